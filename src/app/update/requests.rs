//! The visitor's requests to the engine: an explanation, a model, Stop.

use crate::app::i18n::t;
use crate::app::state::State;
use crate::app::state::engine::{Job, MaskedLmState, ModelState};
use crate::app::state::library::{LibraryMessage, ListAwaited};
use crate::app::state::local_file::LocalFile;
use crate::app::state::message::{Effect, Fetch, Message};
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::origin::Origin;
use crate::app::state::place::Place;
use crate::app::state::purpose::Purpose;
use crate::app::state::run_status::RunStatus;
use crate::app::state::storage_keys;
use crate::conversation;
use crate::explanation::{Answer, Document, MethodId, Model, Sampling, Unit};
use crate::library::download_spec::DownloadSpec;
use crate::problem::Problem;
use crate::request::{BranchPoint, EarlierAnswers, Question, Reading, ThinkingSupport};
use crate::worker::engine::protocol::EngineRequest;
use crate::worker::envelope::{Envelope, RequestId};
use glasscage_message::message;

/// Time that Stop waits for the engine before the engine is terminated, in ms.
const STOP_TIMEOUT_MILLIS: u32 = 4_000;

/// The question that a document answers.
pub(super) fn question_of(document: &Document) -> Question {
    let (answer, sampling, max_tokens, thinking) = match &document.manifest.answer {
        Answer::Generated { sampling, max_tokens, thinking, .. } => (None, *sampling, *max_tokens, *thinking),
        Answer::Given {} => (Some(document.last_answer_text().to_owned()), Sampling::GREEDY, 0, None),
    };
    let (prompt, reading) = prompt_of(document);
    let are_explained = document.explains_earlier_answers();
    Question {
        prompt,
        reading,
        earlier_answers: if are_explained { EarlierAnswers::Explained } else { EarlierAnswers::Given },
        answer,
        use_template: document.manifest.template != "none",
        sampling,
        branches: document.manifest.answer.branches().iter().map(BranchPoint::from).collect(),
        max_tokens,
        thinking,
        max_context: None,
        method: document.method.id.clone(),
        unit: document.unit,
        sentence_rule: document.manifest.sentence_rule,
        language: Some(document.manifest.language),
    }
}

/// The prompt that a document answers, and how it is read. A document does not contain the marks around the visitor's own parts.
fn prompt_of(document: &Document) -> (String, Reading) {
    match document.unit {
        _ if !document.turns.is_empty() => (conversation::written(&conversation::marked_turns_of(document)), Reading::Conversation),
        Unit::Bracket => (document.prompt.bracketed(), Reading::Text),
        _ => (document.prompt.text.clone(), Reading::Text),
    }
}

impl State {
    /// Answers the prompt (or takes the given answer) and explains it. Loads the model first if needed.
    pub(super) fn explain(&mut self) {
        if self.engine.is_busy() {
            return;
        }
        if self.editor.prompt.trim().is_empty() {
            return self
                .fail_at(Place::Editor, Problem::new(message!("There is no prompt yet"), message!("Write one, or choose an example")));
        }
        if let Some(problem) = self.editor.settings.problem(self.engine.thinking()) {
            return self.fail_at(Place::Editor, problem);
        }
        // Before the model is loaded, the visitor's wish counts. A model that does not think ignores it.
        let thinking = self.engine.loaded().map_or(ThinkingSupport::Chosen, |loaded| loaded.thinking);
        let question = self.editor.settings.question(&self.editor.prompt, &self.editor.given_answer, thinking);
        self.ask(Question { reading: self.editor.reading(), earlier_answers: self.editor.earlier_answers(), ..question });
    }

    /// Asks for a new explanation.
    pub(super) fn ask(&mut self, question: Question) {
        self.request(Purpose::Explain(question.clone()), EngineRequest::Explain(question));
    }

    /// Recomputes the explanation on screen with the settings in its document, and compares the two. If a known model made it, and the
    /// visitor has not chosen another one, previews that model instead, because the visitor decides about the download.
    pub(super) fn recompute(&mut self) {
        let Some(shown) = self.explanation.shown.as_ref().filter(|_| !self.engine.is_busy()) else { return };
        let is_prepared = matches!(shown.origin, Origin::Gallery | Origin::Lesson | Origin::Welcome);
        let may_offer = is_prepared || *self.engine.choice == ModelChoice::BuiltIn;
        if !(may_offer && self.offers_model_of_document(ListAwaited::Recompute)) {
            self.recompute_by_chosen_model();
        }
    }

    fn recompute_by_chosen_model(&mut self) {
        let Some(document) = self.explanation.document().filter(|_| !self.engine.is_busy()).cloned() else { return };
        let question = question_of(&document);
        let answer = question.answer.as_deref().unwrap_or_default();
        self.editor.replace_question(&question, answer, &self.engine, &mut self.outbox);
        // In a lesson, keep the editor closed, so that pupils stay with the lesson.
        *self.editor.is_open = self.lesson().is_none();
        self.request(Purpose::Recompute(Box::new(document)), EngineRequest::Explain(question));
    }

    /// Previews the model that made the explanation on screen, if it is Standard or in the list of models, and not the chosen one. Without
    /// the list, fetches it first for `action`. Returns whether `action` must not begin.
    pub(super) fn offers_model_of_document(&mut self, action: ListAwaited) -> bool {
        let Some(shown) = &*self.explanation.shown else { return false };
        if self.is_loaded_or_built_in(&shown.graph.document().manifest.model) {
            return false;
        }
        if !self.library.known.is_empty() {
            return self.offers_known_model();
        }
        if self.library.list_awaited.replace((action, shown.clone())).is_none() {
            self.emit(Effect::Fetch(Fetch::Registry));
        }
        true
    }

    /// Previews the model that made the explanation on screen, if it is known and not the chosen one. Returns whether it does.
    fn offers_known_model(&mut self) -> bool {
        let model = self.explanation.document().map(|document| &document.manifest.model);
        let model = model.filter(|model| !self.is_loaded_or_built_in(model));
        let Some(spec) = model.and_then(|model| self.known_other_model(model)) else { return false };
        self.library_message(LibraryMessage::Open);
        self.library_message(LibraryMessage::Preview(spec));
        true
    }

    /// Whether the explanation on screen was made by another model than the built-in one, which is chosen.
    pub(in crate::app) fn lacks_model_of_document(&self) -> bool {
        let model = self.explanation.document().map(|document| &document.manifest.model);
        *self.engine.choice == ModelChoice::BuiltIn && model.is_some_and(|model| !self.is_loaded_or_built_in(model))
    }

    fn is_loaded_or_built_in(&self, model: &Model) -> bool {
        model.name == ModelChoice::BUILT_IN || self.engine.loaded().is_some_and(|loaded| loaded.model.sha256 == model.sha256)
    }

    /// Continues what waited for the list of models, unless another explanation is on screen by now or a run is in progress.
    pub(super) fn list_arrived(&mut self) {
        let Some((action, shown)) = self.library.list_awaited.take() else { return };
        let is_on_screen = self.explanation.document().is_some_and(|document| shown.is_same_answer(document));
        if !is_on_screen || self.engine.is_busy() || self.offers_known_model() {
            return;
        }
        match action {
            ListAwaited::Recompute => self.recompute_by_chosen_model(),
            ListAwaited::FollowUp => {
                if let Err(problem) = self.check_model() {
                    self.fail_at(Place::Explanation, problem);
                }
            }
        }
    }

    /// Standard, or the model with this SHA-256 in the list, unless it is chosen.
    fn known_other_model(&self, model: &Model) -> Option<DownloadSpec> {
        let standard = &self.library.standard.spec;
        let spec = if model.name == standard.name {
            standard.clone()
        } else {
            self.library.known.iter().find(|known| known.sha256.as_ref() == Some(&model.sha256))?.spec()
        };
        (self.engine.choice.name() != spec.name).then_some(spec)
    }

    /// Sends a request of the visitor, unless a run is in progress. Loads the model first if needed.
    pub(super) fn request(&mut self, purpose: Purpose, request: EngineRequest) {
        if self.engine.is_busy() {
            return;
        }
        if let Some(problem) = self.refusal(&request) {
            return self.fail_at(purpose.place(), problem);
        }
        if purpose.is_follow_up() && self.lacks_model_of_document() && self.offers_model_of_document(ListAwaited::FollowUp) {
            return;
        }
        *self.problem = None;
        *self.engine.work = None;
        if let Purpose::Explain(question) = &purpose {
            if self.engine.unfinished.as_ref().is_some_and(|unfinished| unfinished.question.prompt != question.prompt) {
                *self.engine.unfinished = None;
            }
            self.make_room_for(&question.prompt);
        }
        if purpose.is_explanation() {
            self.make_entry_for_run();
        }
        let id = self.next_id();
        self.engine.job = Some(Job { id, purpose, waiting: Some(request), began_millis: self.now_millis });
        if self.engine.loaded().is_some() {
            return self.begin();
        }
        *self.engine.run = RunStatus::Preparing;
        if self.engine.load.is_none() {
            self.engine.load(&mut self.outbox);
        }
    }

    /// The problem with a request whose method needs a masked language model, if none is chosen.
    fn refusal(&self, request: &EngineRequest) -> Option<Problem> {
        let (EngineRequest::Explain(question) | EngineRequest::MeasureWords { question, .. }) = request else { return None };
        let method = MethodId::named(&question.method)?.text();
        let is_missing = method.needs_masked_lm() && *self.engine.masked_lm == MaskedLmState::NotChosen;
        is_missing.then(|| {
            Problem::new(
                message!("The method \u{201c}{name}\u{201d} needs a masked language model, and none is chosen", name = method.name),
                message!("Choose its three files in the settings, or another method"),
            )
        })
    }

    /// Stops the run and keeps its partial results.
    pub(super) fn stop(&mut self) {
        let Some(id) = self.engine.job.as_ref().map(|job| job.id) else { return };
        if self.engine.is_waiting_for_model() {
            return self.end_engine();
        }
        self.emit(Effect::SendToEngine(Envelope { id, body: EngineRequest::Cancel }, Vec::new()));
        self.emit(Effect::After { millis: STOP_TIMEOUT_MILLIS, message: Box::new(Message::StopTimedOut(id)) });
    }

    /// Terminates the engine if it did not stop in time, because an engine checks for Stop only between steps.
    pub(super) fn stop_timed_out(&mut self, id: RequestId) {
        if self.engine.job.as_ref().is_some_and(|job| job.id == id) {
            self.end_engine();
        }
    }

    fn end_engine(&mut self) {
        self.emit(Effect::EndEngine);
        self.engine.end_load(&mut self.outbox);
        *self.engine.model = ModelState::NotLoaded;
        if self.engine.masked_lm_load.is_some() {
            self.engine.load_masked_lm(&mut self.outbox);
        }
        self.keep_unfinished_answer();
        self.keep_measured();
        let outcome = self.engine.run.interrupted();
        self.end_run(RunStatus::Done(t!("{outcome}; the model reloads for the next explanation", outcome)));
    }

    /// Uses this model from now on. `files` are the files of a local model.
    pub(super) fn choose_model(&mut self, choice: ModelChoice, files: Vec<LocalFile>) {
        if self.engine.is_busy() {
            return self.fail_with(message!("The engine is busy"), message!("Wait or press Stop, then choose again"));
        }
        // WebAssembly memory never shrinks, so terminate the worker to free the memory of the previous model.
        self.emit(Effect::EndEngine);
        *self.problem = None;
        // The other model would write another text, and call it the rest of this one.
        *self.engine.unfinished = None;
        // Its notes are about the model before.
        *self.engine.device = None;
        *self.editor.is_open = true;
        self.engine.choose(choice, &mut self.outbox);
        self.engine.files = files;
        self.engine.load(&mut self.outbox);
    }

    /// Reports a model that crashed the tab while it was loading. The model is not reloaded automatically.
    pub(super) fn tab_ended_while_loading(&mut self, name: &str) {
        self.outbox.remember_in_tab(storage_keys::LOADING, String::new());
        let what = message!("The browser closed this page while \u{201c}{name}\u{201d} was loading, possibly because memory ran out", name);
        if self.engine.choice.name() != name {
            return self.fail_with(what, message!("Choose a smaller model, or close other tabs and choose it again"));
        }
        *self.engine.model = ModelState::Failed;
        self.fail_with(what, message!("Choose a smaller model, or close other tabs and start the explanation again to reload this model"));
    }

    /// Sends the waiting request to the model, which is now loaded.
    pub(super) fn begin(&mut self) {
        let Some(job) = &mut self.engine.job else { return };
        let Some(request) = job.waiting.take() else { return };
        job.began_millis = self.now_millis;
        let id = job.id;
        match self.begin_status() {
            Ok(status) => {
                *self.engine.run = status;
                self.explanation.forget_pointer();
                self.emit(Effect::SendToEngine(Envelope { id, body: request }, Vec::new()));
            }
            Err(problem) => self.fail(problem),
        }
    }
}
