//! Handles events from the engine worker.
//!
//! The id of an event shows which request it answers: the load, the load of the masked language model, the token count, or the run. Other
//! events answer dropped requests and change nothing.

use crate::app::analysis::reproduction::Reproduction;
use crate::app::i18n::t;
use crate::app::state::State;
use crate::app::state::engine::ModelState;
use crate::app::state::message::Effect;
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::origin::Origin;
use crate::app::state::place::Place;
use crate::app::state::purpose::Purpose;
use crate::app::state::run_status::RunStatus;
use crate::explanation::{Contrast, Document};
use crate::problem::Problem;
use crate::request::{ExplainProgress, LoadedModel};
use crate::version::GLASSCAGE;
use crate::worker::engine::protocol::EngineEvent;
use crate::worker::envelope::Envelope;
use glasscage_message::message;

impl State {
    pub(super) fn engine_event(&mut self, Envelope { id, body }: Envelope<EngineEvent>) {
        if self.engine.load == Some(id) {
            self.load_event(body);
        } else if self.engine.masked_lm_load == Some(id) {
            self.masked_lm_event(body);
        } else if self.editor.token_count == Some(id) {
            self.editor.tokens_counted(body);
        } else if self.engine.job.as_ref().is_some_and(|job| job.id == id) {
            self.job_event(body);
        }
    }

    fn load_event(&mut self, event: EngineEvent) {
        match event {
            EngineEvent::Loading(progress) => *self.engine.model = ModelState::Loading(progress),
            EngineEvent::Ready(loaded) => {
                self.engine.end_load(&mut self.outbox);
                self.model_is_ready(loaded);
            }
            EngineEvent::Failed(problem) => {
                self.engine.end_load(&mut self.outbox);
                self.load_failed(problem);
            }
            _ => {}
        }
    }

    fn model_is_ready(&mut self, loaded: LoadedModel) {
        if loaded.glasscage != GLASSCAGE {
            *self.engine.model = ModelState::NotLoaded;
            return self.fail(Problem::new(
                message!("The page was updated while it was open"),
                message!("Reload the page, then start the explanation again"),
            ));
        }
        self.engine.is_ready(loaded, &mut self.outbox);
        // A visitor with a local file did not ask for the built-in model, which the service worker would fetch.
        if !matches!(*self.engine.choice, ModelChoice::Files(_)) {
            self.emit(Effect::RegisterServiceWorker);
        }
        self.editor.recount_tokens(&self.engine, &mut self.outbox);
        self.begin();
    }

    fn job_event(&mut self, event: EngineEvent) {
        match event {
            // The engine lost the model and reloads it before the run begins.
            EngineEvent::Loading(progress) => *self.engine.model = ModelState::Loading(progress),
            EngineEvent::Ready(loaded) => *self.engine.model = ModelState::Ready(Box::new(loaded)),
            EngineEvent::Progress(progress) => self.explain_progress(progress),
            EngineEvent::Passes(passes) => self.engine.run.passes_done([passes.done, passes.planned], self.now_millis),
            EngineEvent::Work(work) => self.engine.learn_speed(work, self.now_millis, &mut self.outbox),
            EngineEvent::Explained { document, problem } => self.explained(*document, problem),
            EngineEvent::DeletionCurves(curves) => self.deletion_measured(&curves),
            EngineEvent::Words(words) => self.words_measured(words),
            EngineEvent::Contrast(contrast) => self.contrast_measured(contrast),
            EngineEvent::Answered(document) => self.variant_answered(&document),
            EngineEvent::DeviceMeasured(report) => {
                self.end_run(RunStatus::Done(t!("Measured this device").into()));
                *self.engine.device = Some(report);
            }
            EngineEvent::Stopped => self.stopped(),
            EngineEvent::Failed(problem) if self.engine.is_loading() => self.load_failed(problem),
            EngineEvent::Failed(problem) => self.fail(problem),
            EngineEvent::MaskedLmLoaded | EngineEvent::TokensCounted(_) => {}
        }
    }

    fn explain_progress(&mut self, progress: ExplainProgress) {
        let is_follow_up = self.is_follow_up();
        match progress {
            ExplainProgress::Token(piece) => {
                self.engine.run.token(&piece);
                self.variant_token(&piece);
            }
            ExplainProgress::Answered(document) if is_follow_up => {
                self.engine.run.passes_done(document.method.passes, self.now_millis);
            }
            ExplainProgress::Answered(document) => {
                *self.engine.run = RunStatus::measuring(document.method.passes[1], self.now_millis);
                *self.engine.unfinished = None;
                let document = self.derived_as_shared(*document);
                self.show_own(document);
            }
            ExplainProgress::BaseScored { flow: Some(flow) } if !is_follow_up => {
                if self.explanation.estimate(flow) {
                    self.engine.run.estimated();
                }
            }
            ExplainProgress::Step | ExplainProgress::BaseScored { .. } => {}
            ExplainProgress::Pass { done, planned } => self.engine.run.passes_done([done, planned], self.now_millis),
            ExplainProgress::Column { source, scores, done, planned } => {
                self.engine.run.passes_done([done, planned], self.now_millis);
                if !is_follow_up {
                    self.explanation.fill_column(source, &scores, [done, planned]);
                    if self.explanation.document().is_some_and(Document::is_complete) {
                        self.engine.run.refined();
                    }
                }
            }
        }
    }

    /// Handles a measured explanation. It is partial if the visitor pressed Stop or `problem` occurred.
    fn explained(&mut self, document: Document, problem: Option<Problem>) {
        match self.engine.job.as_ref().map(|job| &job.purpose) {
            Some(&Purpose::ExplainVariant(at)) => self.variant_explained(at, document),
            _ if self.is_follow_up() => self.compared(document),
            _ => {
                let contrasts = self.finish(document);
                if problem.is_none() {
                    self.measure_again(contrasts);
                }
            }
        }
        if let Some(problem) = problem {
            *self.engine.run = RunStatus::Idle;
            self.fail_at(Place::Explanation, problem);
        }
    }

    /// Replaces the growing document with the final one. The visitor's selection stays. Returns the contrasts of a recomputed explanation
    /// that have the same text again.
    fn finish(&mut self, document: Document) -> Vec<Contrast> {
        let purpose = self.end_run(RunStatus::Done(self.engine.run.outcome(document.method.passes)));
        match self.explanation.document().filter(|growing| growing.is_same_text(&document)) {
            Some(growing) => {
                let derived = document.clone().derived(growing.method.derivation());
                self.explanation.replace(derived, Origin::Here);
                self.replace_entry();
            }
            None => self.show_own(derived_as(&purpose, document.clone())),
        }
        *self.explanation.reproduction = None;
        let Some(Purpose::Recompute(shared)) = purpose else { return Vec::new() };
        *self.explanation.reproduction = Some(Reproduction::of(&shared, &document));
        match document.is_complete() && document.is_same_text(&shared) {
            true => shared.contrasts,
            false => Vec::new(),
        }
    }

    /// Handles Stop before anything was measured.
    fn stopped(&mut self) {
        self.keep_unfinished_answer();
        self.end_run(RunStatus::Done(t!("Stopped").into()));
    }

    pub(super) fn fail(&mut self, problem: Problem) {
        self.keep_unfinished_answer();
        self.keep_measured();
        let purpose = self.end_run(RunStatus::Idle);
        self.fail_at(purpose.map_or(Place::Page, |purpose| purpose.place()), problem);
    }

    /// Stores the scores measured so far in the history entry.
    pub(super) fn keep_measured(&mut self) {
        if matches!(*self.engine.run, RunStatus::Measuring { .. }) && !self.is_follow_up() {
            self.replace_entry();
        }
    }

    /// Ends the run and returns its purpose.
    pub(super) fn end_run(&mut self, status: RunStatus) -> Option<Purpose> {
        *self.engine.run = status;
        // If the run was reloading the model, that has ended, too.
        if self.engine.is_loading() && self.engine.load.is_none() {
            *self.engine.model = ModelState::NotLoaded;
        }
        self.explanation.settle_variants();
        self.explanation.forget_estimate();
        self.engine.job.take().map(|job| job.purpose)
    }

    /// Gives a recomputed explanation the derivation of the shared one.
    fn derived_as_shared(&self, document: Document) -> Document {
        derived_as(&self.engine.job.as_ref().map(|job| job.purpose.clone()), document)
    }
}

fn derived_as(purpose: &Option<Purpose>, document: Document) -> Document {
    match purpose {
        Some(Purpose::Recompute(shared)) => document.derived(shared.method.derivation()),
        _ => document,
    }
}
