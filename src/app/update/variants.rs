//! Variants of the explanation on screen, which stays: answers a changed prompt or continues the answer from an alternative of a token, and
//! explains the new answers.

use std::sync::Arc;

use super::requests::question_of;
use crate::app::analysis::passages::edits_without;
use crate::app::analysis::variant::{Variant, VariantAnswer, last_answer};
use crate::app::i18n::t;
use crate::app::state::State;
use crate::app::state::purpose::Purpose;
use crate::app::state::run_status::RunStatus;
use crate::explanation::{Answer, Document};
use crate::request::Question;
use crate::shares::AttributionGraph;
use crate::worker::engine::protocol::EngineRequest;

impl State {
    /// Answers the changed prompt with the same settings.
    pub(super) fn answer_variant(&mut self) {
        let Some(document) = self.explanation.document().filter(|_| !self.engine.is_busy()) else { return };
        self.answer_edited(Variant::new(document, &self.explanation.edits));
    }

    /// Answers the prompt on screen without these sentences, with the same settings. The visitor's own edits stay.
    pub(super) fn answer_without(&mut self, sources: &[usize]) {
        let Some(document) = self.explanation.document().filter(|_| !self.engine.is_busy()) else { return };
        self.answer_edited(Variant::new(document, &edits_without(sources)));
    }

    fn answer_edited(&mut self, variant: Option<Variant>) {
        let Some((document, variant)) = self.explanation.document().zip(variant) else { return };
        let question = self.question_of_variant(document, &variant);
        self.request(Purpose::AnswerVariant(variant), EngineRequest::Answer(question));
    }

    /// Continues the answer on screen from an alternative of a token, with the same settings.
    pub(super) fn continue_from(&mut self, token: usize, rank: usize) {
        let Some(document) = self.explanation.document().filter(|_| !self.engine.is_busy()) else { return };
        let Some(variant) = Variant::continued(document, token, rank) else { return };
        let question = self.question_of_variant(document, &variant);
        self.request(Purpose::AnswerVariant(variant), EngineRequest::Answer(question));
    }

    /// Explains the answer of a variant with the method of the explanation on screen. The model generates the same answer again.
    pub(super) fn explain_variant(&mut self, at: usize) {
        let Some(shown) = self.complete_and_idle() else { return };
        let Some(variant) = self.explanation.variants.get(at) else { return };
        let question = self.question_of_variant(shown.graph.document(), variant);
        self.request(Purpose::ExplainVariant(at), EngineRequest::Explain(question));
    }

    fn question_of_variant(&self, document: &Document, variant: &Variant) -> Question {
        let (sampling, max_tokens) = match &document.manifest.answer {
            Answer::Generated { sampling, max_tokens, .. } => (*sampling, *max_tokens),
            // A given answer has no sampling settings, so use those of the editor.
            Answer::Given {} => (self.editor.settings.sampling(), self.editor.settings.max_tokens),
        };
        let unchanged = question_of(document);
        let branches = variant.continuation.as_ref().map_or_else(Vec::new, |continuation| continuation.branch_points(&unchanged.branches));
        let prompt = if variant.continuation.is_some() && !document.turns.is_empty() { unchanged.prompt } else { variant.prompt.clone() };
        Question { prompt, answer: None, sampling, branches, max_tokens, ..unchanged }
    }

    /// Shows the explanation of a variant.
    pub(super) fn open_variant(&mut self, at: usize) {
        let explanation = self.explanation.variants.get(at).and_then(|variant| variant.explanation.clone());
        if let Some(graph) = explanation.filter(|_| !self.refuse_while_busy()) {
            self.show_own(graph.document().clone());
        }
    }

    /// Puts the prompt of a variant into the editor, to be read as that of the explanation on screen.
    pub(super) fn edit_variant(&mut self, at: usize) {
        let Some((document, variant)) = self.explanation.document().zip(self.explanation.variants.get(at)) else { return };
        let question = self.question_of_variant(document, variant);
        self.editor.replace_question(&question, "", &self.engine, &mut self.outbox);
        *self.editor.is_open = true;
    }

    /// Adds a piece to the growing answer, if the run answers a variant.
    pub(super) fn variant_token(&mut self, piece: &str) {
        if self.engine.job.as_ref().is_some_and(|job| matches!(job.purpose, Purpose::AnswerVariant(_))) {
            self.explanation.variants.iter_mut().for_each(|variant| variant.push(piece));
        }
    }

    pub(super) fn variant_answered(&mut self, document: &Document) {
        let sentences = last_answer(document).into_iter().map(str::to_owned).collect();
        if let Some(variant) = self.explanation.variants.last_mut() {
            variant.answer = VariantAnswer::Whole(sentences);
        }
        self.end_run(RunStatus::Done(t!("New answer ready").into()));
    }

    /// Stores the explanation of a variant's answer. Drops it if Stop has left it partial.
    pub(super) fn variant_explained(&mut self, at: usize, document: Document) {
        let [done, planned] = document.method.passes;
        if !document.is_complete() {
            self.end_run(RunStatus::Done(t!("Stopped after {done} of {planned} forward passes", done, planned)));
            return;
        }
        self.end_run(RunStatus::Done(t!("New answer explained").into()));
        let derivation = self.explanation.document().map(|shown| shown.method.derivation());
        if let (Some(variant), Some(derivation)) = (self.explanation.variants.get_mut(at), derivation) {
            variant.explanation = Some(Arc::new(AttributionGraph::new(document.derived(derivation))));
        }
    }
}
