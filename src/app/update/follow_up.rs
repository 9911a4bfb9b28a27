//! Follow-up questions about the explanation on screen, which stays: the deletion test, another method, the words of a source, another
//! text in place of a part of the answer.

use super::requests::question_of;
use crate::app::analysis::deletion_test::{DeletionTestPlan, tested_rows};
use crate::app::analysis::expanded_source::ExpandedSource;
use crate::app::i18n::t;
use crate::app::state::State;
use crate::app::state::origin::Origin;
use crate::app::state::place::Place;
use crate::app::state::purpose::Purpose;
use crate::app::state::run_status::RunStatus;
use crate::app::state::shown_document::ShownDocument;
use crate::explanation::{Contrast, Document, METHODS, MethodId};
use crate::problem::Problem;
use crate::request::{DeletionCurves, Question, Word};
use crate::shares::Shares;
use crate::worker::engine::protocol::EngineRequest;
use glasscage_message::message;

// Requests of the visitor.
impl State {
    /// Runs the deletion test on the explanation on screen, with the model that made it.
    pub(super) fn measure_deletion(&mut self) {
        let Some(shown) = self.complete_and_idle() else { return };
        // Use the selected output, not the sentence under the pointer.
        let rows = tested_rows(shown.graph.document(), &self.explanation.output);
        let plan = DeletionTestPlan::new(&Shares::new(shown.graph.clone(), &rows));
        let request = EngineRequest::MeasureDeletion { question: same_answer(shown.graph.document()), orders: plan.orders() };
        *self.explanation.deletion_test = None;
        self.request(Purpose::DeletionTest(plan), request);
    }

    /// Explains the answer on screen by another method too.
    pub(super) fn compare_method(&mut self, method: &str) {
        let Some(shown) = self.complete_and_idle() else { return };
        let question = Question { method: method.into(), ..same_answer(shown.graph.document()) };
        self.request(Purpose::Compare, EngineRequest::Explain(question));
    }

    /// Expands a source into its words, or collapses it. Measured words are not measured again.
    pub(super) fn toggle_words(&mut self, source: usize) {
        if self.explanation.toggle_expanded(source) {
            return;
        }
        let Some(shown) = self.complete_and_idle() else { return };
        let request = EngineRequest::MeasureWords { question: same_answer(shown.graph.document()), source };
        self.request(Purpose::ExpandWords(source), request);
    }

    /// Compares a part of the answer on screen with an alternative.
    pub(super) fn measure_contrast(&mut self, mark: [usize; 2], alternative: &str) {
        let Some(shown) = self.complete_and_idle() else { return };
        let (question, alternative) = (same_answer(shown.graph.document()), alternative.to_owned());
        self.request(Purpose::Contrast(Vec::new()), EngineRequest::MeasureContrast { question, mark, alternative });
    }

    /// Measures the contrasts of an explanation again, after it was recomputed with the same text.
    pub(super) fn measure_again(&mut self, contrasts: Vec<Contrast>) {
        let mut contrasts = contrasts.into_iter();
        let Some(Contrast { span: mark, alternative, .. }) = contrasts.next() else { return };
        let Some(shown) = self.complete_and_idle() else { return };
        let request = EngineRequest::MeasureContrast { question: same_answer(shown.graph.document()), mark, alternative };
        self.request(Purpose::Contrast(contrasts.collect()), request);
    }

    /// Puts the explanation by another method on screen.
    pub(super) fn show_method(&mut self, method: &str) {
        // The results of a run belong to the explanation on screen.
        if !self.engine.is_busy() {
            self.explanation.show_method(method);
            self.replace_entry();
        }
    }

    /// The explanation on screen, if no run is in progress and all of it is measured. Shows a problem if a part is not measured.
    pub(super) fn complete_and_idle(&mut self) -> Option<ShownDocument> {
        let shown = self.explanation.shown.clone().filter(|_| !self.engine.is_busy())?;
        if shown.graph.document().is_complete() {
            return Some(shown);
        }
        self.fail_at(
            Place::Explanation,
            Problem::new(message!("This explanation was stopped before its end"), message!("Recompute it first")),
        );
        None
    }

    /// Whether the run is about the explanation on screen and does not replace it.
    pub(super) fn is_follow_up(&self) -> bool {
        self.engine.job.as_ref().is_some_and(|job| job.purpose.is_follow_up())
    }

    /// The status with which the run begins. Errors if a follow-up question needs another model than the loaded one.
    pub(super) fn begin_status(&mut self) -> Result<RunStatus, Problem> {
        if self.is_follow_up() {
            self.check_model()?;
        }
        Ok(match self.engine.job.as_ref().map(|job| &job.purpose) {
            None | Some(Purpose::Explain(_) | Purpose::Recompute(_)) => RunStatus::answering(),
            Some(Purpose::AnswerVariant(variant)) => {
                self.explanation.variants.push(variant.clone());
                RunStatus::AnsweringAgain(0)
            }
            Some(Purpose::ExplainVariant(_)) => RunStatus::follow_up(t!("Explaining the new answer")),
            Some(Purpose::Compare) => RunStatus::follow_up(t!("Measuring by the other method")),
            Some(Purpose::ExpandWords(_)) => RunStatus::follow_up(t!("Measuring word by word")),
            Some(Purpose::DeletionTest(_)) => RunStatus::follow_up(t!("Running the deletion test")),
            Some(Purpose::Contrast(_)) => RunStatus::follow_up(t!("Comparing the two texts")),
            Some(Purpose::MeasureDevice) => RunStatus::follow_up(t!("Measuring this device")),
        })
    }

    pub(super) fn check_model(&self) -> Result<(), Problem> {
        let made_by = self.explanation.document().map(|document| &document.manifest.model);
        let loaded = self.engine.loaded().map(|loaded| &loaded.model.sha256);
        match made_by {
            Some(made_by) if Some(&made_by.sha256) == loaded => Ok(()),
            _ => Err(Problem::new(
                message!(
                    "This explanation was made by another model (\u{201c}{name}\u{201d}) than the one that is loaded",
                    name = made_by.map_or("", |model| &model.name),
                ),
                message!("Open that model\u{2019}s file, or recompute the explanation here, then try again"),
            )),
        }
    }
}

// Results of the engine.
impl State {
    pub(super) fn deletion_measured(&mut self, curves: &DeletionCurves) {
        if let Some(Purpose::DeletionTest(plan)) = self.end_run(RunStatus::Done(t!("Deletion test done").into())) {
            *self.explanation.deletion_test = plan.evaluate(curves);
        }
    }

    /// Handles an explanation by another method. It is partial if the visitor pressed Stop.
    pub(super) fn compared(&mut self, document: Document) {
        let name = MethodId::named(&document.method.id).map(|method| method.text().name);
        let [done, planned] = document.method.passes;
        let outcome = match (document.is_complete(), name) {
            (true, Some(name)) => t!("Also explained by {name}", name),
            (true, None) => t!("Also explained by the other method").into(),
            (false, Some(name)) => t!("Stopped after {done} of {planned} forward passes by {name}", done, planned, name),
            (false, None) => t!("Stopped after {done} of {planned} forward passes by the other method", done, planned),
        };
        self.end_run(RunStatus::Done(outcome));
        if !document.is_complete() {
            return;
        }
        let Some(shown) = self.explanation.document().filter(|shown| shown.is_same_text(&document)) else { return };
        // Use the reader's derivation for both graphs, or else the default derivation of each method.
        let is_usual = shown.method.derivation() == shown.default_derivation();
        let derivation = if is_usual { document.default_derivation() } else { shown.method.derivation() };
        let mut derived = document.derived(derivation);
        // The question gave the answer to the engine, but the model may have written it.
        derived.manifest.answer = shown.manifest.answer.clone();
        let comparison = ShownDocument::new(derived.versioned(), Origin::Here);
        let comparisons = &mut *self.explanation.comparisons;
        comparisons.retain(|known| known.method_id() != comparison.method_id());
        comparisons.push(comparison);
        comparisons.sort_by_key(|known| METHODS.iter().position(|method| method.id == known.method_id()));
    }

    /// Adds a contrast to the document on screen.
    pub(super) fn contrast_measured(&mut self, contrast: Contrast) {
        let purpose = self.end_run(RunStatus::Done(t!("Compared both texts").into()));
        if self.explanation.add_contrast(contrast) {
            self.replace_entry();
            if let Some(Purpose::Contrast(others)) = purpose {
                self.measure_again(others);
            }
            return;
        }
        *self.engine.run = RunStatus::Idle;
        self.fail_at(
            Place::Explanation,
            Problem::new(
                message!("This explanation splits the text into other sentences than this version of Glasscage"),
                message!("Recompute it here, then compare the texts again"),
            ),
        );
    }

    pub(super) fn words_measured(&mut self, words: Vec<Word>) {
        let purpose = self.end_run(RunStatus::Done(t!("Measured word by word").into()));
        let method = self.explanation.shown.as_ref().map(|shown| shown.method_id().to_owned());
        if let (Some(Purpose::ExpandWords(source)), Some(method)) = (purpose, method) {
            self.explanation.collapsed.retain(|&other| other != source);
            self.explanation.expanded.push(ExpandedSource { source, method, words });
        }
    }
}

/// The question of this document, with the document's answer as a given answer.
fn same_answer(document: &Document) -> Question {
    Question { answer: Some(document.last_answer_text().to_owned()), branches: Vec::new(), ..question_of(document) }
}
