//! What a visitor asks about the explanation on screen, which stays: the deletion test, another method, an answer without some
//! of the prompt's sentences.

use leptos::prelude::*;

use super::asking::question_of;
use super::check::Plan;
use super::reading::Reading;
use super::run::Run;
use super::state::{Origin, Page, Shown};
use super::trial::{Reply, Trial};
use super::words::Opened;
use crate::explanation::{Answer, Document, METHODS, method_text};
use crate::problem::Problem;
use crate::worker::client::{Checked, Question, Ready, Request, Word};

/// What the engine works on, and so what its events are for.
#[derive(Default)]
pub(super) enum Job {
    /// A new explanation.
    #[default]
    Explain,
    /// The explanation from elsewhere, made again.
    Again(Box<Document>),
    /// The deletion test.
    Check(Plan),
    /// The answer on screen by another method.
    Compare,
    /// The prompt without some sentences.
    Retry(Trial),
    /// A source word by word.
    Open,
}

impl Page {
    /// Puts the explanation on screen to the deletion test, on the model that made it.
    pub fn check_it(&self) {
        let Some(shown) = self.complete_and_idle() else { return };
        let document = shown.graph.document();
        // A sentence under the pointer is no choice.
        let plan = self.output.with_untracked(|output| Plan::new(&Reading::new(shown.graph.clone(), output)));
        let request = Request::Check(same_answer(document), plan.orders());
        self.check.set(None);
        self.request(Job::Check(plan), request);
    }

    /// Explains the answer on screen by another method too.
    pub fn compare_with(&self, method: &str) {
        let Some(shown) = self.complete_and_idle() else { return };
        let question = Question { method: method.into(), ..same_answer(shown.graph.document()) };
        self.request(Job::Compare, Request::Explain(question));
    }

    /// Answers the prompt on screen without its marked sentences, with the same settings.
    pub fn answer_without(&self) {
        let Some(shown) = self.shown.get_untracked().filter(|_| !self.run.with_untracked(Run::is_active)) else { return };
        let document = shown.graph.document();
        let Some(trial) = self.marked.with_untracked(|marked| Trial::new(document, marked)) else { return };
        let (sampling, max_tokens) = match &document.manifest.answer {
            Answer::Generated { sampling, max_tokens, .. } => (*sampling, *max_tokens),
            // A given answer has no settings of its own.
            Answer::Given {} => self.settings.with_untracked(|settings| (settings.sampling(), settings.max_tokens)),
        };
        let question = Question { prompt: trial.prompt.clone(), answer: None, sampling, max_tokens, ..question_of(document) };
        self.request(Job::Retry(trial), Request::Answer(question));
    }

    /// Opens a source to its words, or folds them away; what was measured is not measured again.
    pub fn open_words(&self, source: usize) {
        let Some(shown) = self.shown.get_untracked() else { return };
        let method = &shown.graph.document().method.id;
        let is_known = |opened: &Opened| opened.source == source && opened.method == *method;
        if self.opened.with_untracked(|all| all.iter().any(is_known)) {
            return self.folded.update(|folded| match folded.iter().position(|&other| other == source) {
                Some(at) => drop(folded.remove(at)),
                None => folded.push(source),
            });
        }
        let Some(shown) = self.complete_and_idle() else { return };
        self.request(Job::Open, Request::Words(same_answer(shown.graph.document()), source));
    }

    /// Puts the explanation by another method in the place of the one on screen, which takes its place.
    pub fn show_other(&self, method: &str) {
        let Some(mut shown) = self.shown.get_untracked() else { return };
        self.others.update(|others| {
            if let Some(other) = others.iter_mut().find(|other| other.graph.document().method.id == method) {
                std::mem::swap(other, &mut shown);
            }
        });
        self.link.set(None);
        self.reproduction.set(None);
        self.shown.set(Some(shown));
    }

    /// The explanation on screen, where no run goes on and all of it was measured.
    fn complete_and_idle(&self) -> Option<Shown> {
        let shown = self.shown.get_untracked().filter(|_| !self.run.with_untracked(Run::is_active))?;
        if shown.graph.document().is_complete() {
            return Some(shown);
        }
        self.problem.set(Some(Problem::new("This explanation was stopped before its end", "Make it again first")));
        None
    }

    /// Whether the run is about the explanation on screen and does not replace it.
    pub(super) fn is_beside(&self) -> bool {
        self.engine.with_value(|engine| !matches!(engine.job, Job::Explain | Job::Again(_)))
    }

    /// How the run begins, on the model that made the explanation on screen and on no other.
    pub(super) fn begin_beside(&self, ready: &Ready) -> Result<Run, Problem> {
        let made_by = self.shown.with_untracked(|shown| shown.as_ref().map(|shown| shown.graph.document().manifest.model.clone()));
        let made_by = made_by.unwrap_or_default();
        if made_by.sha256 != ready.model.sha256 {
            let what = format!("This explanation was made by another model (\u{201c}{}\u{201d}) than the one that is loaded", made_by.name);
            return Err(Problem::new(what, "Open that model\u{2019}s file, or make the explanation again here, then try again"));
        }
        Ok(self.engine.with_value(|engine| match &engine.job {
            Job::Retry(trial) => {
                self.trials.update(|trials| trials.push(trial.clone()));
                Run::Retrying(0)
            }
            Job::Compare => Run::beside("Measuring by the other method"),
            Job::Open => Run::beside("Measuring word by word"),
            _ => Run::beside("Deleting sentence by sentence"),
        }))
    }

    pub(super) fn checked(&self, checked: &Checked) {
        self.run.set(Run::Done("Checked".into()));
        if let Job::Check(plan) = self.take_job() {
            self.check.set(plan.check(checked));
        }
    }

    /// The answer on screen is explained by another method, or was until Stop.
    pub(super) fn compared(&self, document: Document) {
        let name = method_text(&document.method.id).map_or("the other method", |method| method.name);
        let [made, planned] = document.method.passes;
        if !document.is_complete() {
            return self.run.set(Run::Done(format!("Stopped after {made} of {planned} passes by {name}")));
        }
        self.run.set(Run::Done(format!("Explained by {name} too")));
        let Some(shown) = self.shown.get_untracked().filter(|shown| shown.graph.document().is_same_text(&document)) else { return };
        let method = &shown.graph.document().method;
        let other = Shown::new(document.derived(method.aggregation, method.normalization), Origin::Here);
        self.others.update(|others| {
            others.retain(|known| known.graph.document().method.id != other.graph.document().method.id);
            others.push(other);
            others.sort_by_key(|other| METHODS.iter().position(|method| method.id == other.graph.document().method.id));
        });
    }

    /// One more piece of an answer, where it is that of a trial.
    pub(super) fn trial_goes_on(&self, piece: &str) {
        if self.engine.with_value(|engine| matches!(engine.job, Job::Retry(_))) {
            self.trials.update(|trials| trials.iter_mut().for_each(|trial| trial.push(piece)));
        }
    }

    pub(super) fn answered_again(&self, document: &Document) {
        self.run.set(Run::Done("Answered again".into()));
        let sentences = document.generation.sentence_texts().into_iter().map(str::to_owned).collect();
        self.trials.update(|trials| {
            if let Some(trial) = trials.last_mut() {
                trial.answer = Reply::Whole(sentences);
            }
        });
    }

    /// A source was measured word by word.
    pub(super) fn opened(&self, source: usize, words: Vec<Word>) {
        self.run.set(Run::Done("Measured word by word".into()));
        let Some(method) = self.shown.with_untracked(|shown| shown.as_ref().map(|shown| shown.graph.document().method.id.clone())) else {
            return;
        };
        self.folded.update(|folded| folded.retain(|&other| other != source));
        self.opened.update(|all| all.push(Opened { source, method, words }));
    }

    /// The run broke off: an answer that was being written keeps its words.
    pub(super) fn settle_trial(&self) {
        self.trials.update(|trials| {
            trials.iter_mut().for_each(Trial::settle);
            trials.retain(|trial| !trial.is_empty());
        });
    }
}

/// The question whose answer is the one of this document, given.
fn same_answer(document: &Document) -> Question {
    Question { answer: Some(document.generation.text.clone()), ..question_of(document) }
}
