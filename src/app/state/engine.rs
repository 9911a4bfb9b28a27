//! From a press on Explain to a document: what is asked of the engine, and what its answers change.
//!
//! What an answer is for follows from the id of its request: that of the load, of the masked language model, or of the run.
//! Any other is an answer to a request that was dropped, and changes nothing.

use super::follow_up::Purpose;
use super::{Effect, FileId, LocalFile, MaskedLmState, Message, ModelChoice, Origin, Reactive, RunStatus, State};
use crate::app::analysis::reproduction::Reproduction;
use crate::app::analysis::speed::Speed;
use crate::explanation::{Answer, Document, Sampling};
use crate::problem::Problem;
use crate::request::{BackendChoice, ExplainProgress, LoadProgress, LoadedModel, Question, WorkStats};
use crate::version::GLASSCAGE;
use crate::worker::engine::protocol::{EngineEvent, EngineRequest};
use crate::worker::envelope::{Envelope, RequestId};

/// How long Stop waits for the engine to end in good order.
const STOP_TIMEOUT_MILLIS: u32 = 4_000;
const MODEL_KEY: &str = "glasscage.model";
const SPEED_KEY: &str = "glasscage.speed";

/// The engine as far as the page knows it: model, run, and what is waited for.
#[derive(Default)]
pub struct Engine {
    pub model: Reactive<ModelState>,
    /// The model that answers.
    pub choice: Reactive<ModelChoice>,
    pub masked_lm: Reactive<MaskedLmState>,
    pub run: Reactive<RunStatus>,
    /// The work of the last run.
    pub work: Reactive<Option<WorkStats>>,
    /// The speed of the last run in this browser.
    pub speed: Option<Speed>,
    /// The local files of the model, where it has any.
    pub(super) files: Vec<LocalFile>,
    pub(super) masked_lm_files: Vec<LocalFile>,
    pub(super) masked_lm_load: Option<RequestId>,
    load: Option<RequestId>,
    pub(super) job: Option<Job>,
    backend: BackendChoice,
    built_in_model: String,
}

/// What the engine works on, or will when the model is loaded.
pub(super) struct Job {
    id: RequestId,
    pub(super) purpose: Purpose,
    /// Not sent yet.
    waiting: Option<EngineRequest>,
    began_millis: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum ModelState {
    #[default]
    NotLoaded,
    Loading(LoadProgress),
    Ready(LoadedModel),
}

impl Engine {
    pub fn new(backend: BackendChoice, built_in_model: String, choice: Option<&str>, speed: Option<&str>) -> Self {
        Self {
            choice: Reactive::new(choice.map(ModelChoice::from_json).unwrap_or_default()),
            speed: speed.and_then(Speed::parse),
            backend,
            built_in_model,
            ..Self::default()
        }
    }

    /// Whether a run goes on, or waits for the model.
    pub fn is_busy(&self) -> bool {
        self.run.is_active()
    }

    pub fn loaded(&self) -> Option<&LoadedModel> {
        if let ModelState::Ready(loaded) = &*self.model { Some(loaded) } else { None }
    }

    /// How much of the model is loaded, while it is.
    pub fn load_progress(&self) -> Option<LoadProgress> {
        if let ModelState::Loading(progress) = *self.model { Some(progress) } else { None }
    }

    pub(super) fn is_loading(&self) -> bool {
        matches!(*self.model, ModelState::Loading(_))
    }

    pub(super) fn is_waiting_for_model(&self) -> bool {
        self.job.as_ref().is_some_and(|job| job.waiting.is_some())
    }
}

/// The question that a document answers.
pub(super) fn question_of(document: &Document) -> Question {
    let (answer, sampling, max_tokens) = match &document.manifest.answer {
        Answer::Generated { sampling, max_tokens, .. } => (None, *sampling, *max_tokens),
        Answer::Given {} => (Some(document.generation.text.clone()), Sampling::GREEDY, 0),
    };
    Question {
        prompt: document.prompt.text.clone(),
        answer,
        use_template: document.manifest.template != "none",
        sampling,
        max_tokens,
        max_context: None,
        method: document.method.id.clone(),
        unit: document.unit,
    }
}

// What the visitor asks for.
impl State {
    /// Answers the prompt (or takes the given answer) and explains it; loads the model first where needed.
    pub(super) fn explain(&mut self) {
        if self.engine.is_busy() {
            return;
        }
        if self.editor.prompt.trim().is_empty() {
            return self.fail_with("There is no prompt yet", "Write one, or choose an example");
        }
        let question = self.editor.settings.question(&self.editor.prompt, &self.editor.given_answer);
        self.request(Purpose::Explain, EngineRequest::Explain(question));
    }

    /// Makes the explanation on screen again, as its document says it was made, and compares.
    pub(super) fn recompute(&mut self) {
        let Some(document) = self.explanation.document().filter(|_| !self.engine.is_busy()).cloned() else { return };
        let question = question_of(&document);
        self.replace_texts(&question.prompt, question.answer.as_deref().unwrap_or_default());
        *self.editor.is_open = true;
        self.request(Purpose::Recompute(Box::new(document)), EngineRequest::Explain(question));
    }

    /// Sends what the visitor asks for; loads the model first where needed.
    pub(super) fn request(&mut self, purpose: Purpose, request: EngineRequest) {
        *self.problem = None;
        *self.engine.work = None;
        let id = self.next_id();
        self.engine.job = Some(Job { id, purpose, waiting: Some(request), began_millis: self.now_millis });
        if self.engine.loaded().is_some() {
            return self.begin();
        }
        *self.engine.run = RunStatus::Preparing;
        if !self.engine.is_loading() {
            self.load();
        }
    }

    /// Ends the run and keeps what is done.
    pub(super) fn stop(&mut self) {
        let Some(id) = self.engine.job.as_ref().map(|job| job.id) else { return };
        if self.engine.is_waiting_for_model() {
            return self.end_engine();
        }
        self.send_to_engine(id, EngineRequest::Cancel, Vec::new());
        self.emit(Effect::After { millis: STOP_TIMEOUT_MILLIS, message: Box::new(Message::StopTimedOut(id)) });
    }

    /// An engine in the middle of a long step hears of Stop only after it. A visitor does not wait for that.
    pub(super) fn stop_timed_out(&mut self, id: RequestId) {
        if self.engine.job.as_ref().is_some_and(|job| job.id == id) {
            self.end_engine();
        }
    }

    fn end_engine(&mut self) {
        self.emit(Effect::EndEngine);
        self.engine.load = None;
        *self.engine.model = ModelState::NotLoaded;
        if let Some(answer) = self.engine.run.answer().map(str::to_owned) {
            self.keep_answer(answer);
        }
        let interrupted = self.engine.run.interrupted();
        self.end_run(RunStatus::Done(format!("{interrupted}; the model loads again at the next Explain")));
    }

    /// Takes this model from now on; `files` are those of a local one.
    pub(super) fn choose_model(&mut self, choice: ModelChoice, files: Vec<LocalFile>) {
        if self.engine.is_busy() {
            return self.fail_with("The engine is busy", "Wait or press Stop, then choose again");
        }
        if self.engine.is_loading() {
            // Nobody waits for a model that is not wanted any more.
            self.emit(Effect::EndEngine);
        }
        *self.problem = None;
        *self.editor.is_open = true;
        self.set_model_choice(choice);
        self.engine.files = files;
        self.load();
    }

    /// The model that answers from now on, on this visit and, where it lasts, on the next.
    pub(super) fn set_model_choice(&mut self, choice: ModelChoice) {
        self.remember_model(&choice);
        *self.engine.choice = choice;
    }

    /// The model of the next visit.
    pub(super) fn remember_model(&mut self, choice: &ModelChoice) {
        self.emit(Effect::RememberForVisits { key: MODEL_KEY, text: choice.to_json() });
    }

    fn load(&mut self) {
        *self.engine.model = ModelState::Loading(LoadProgress::default());
        let source = self.engine.choice.source(&self.engine.built_in_model);
        let files = self.engine.files.iter().map(|file| file.id).collect();
        let id = self.next_id();
        self.engine.load = Some(id);
        self.send_to_engine(id, EngineRequest::Load { source, backend: self.engine.backend }, files);
        self.load_masked_lm();
    }

    pub(super) fn send_to_engine(&mut self, id: RequestId, body: EngineRequest, files: Vec<FileId>) {
        self.emit(Effect::SendToEngine(Envelope { id, body }, files));
    }

    /// Sends the waiting request to the model, which is there now.
    fn begin(&mut self) {
        let Some(job) = &mut self.engine.job else { return };
        let Some(request) = job.waiting.take() else { return };
        job.began_millis = self.now_millis;
        let id = job.id;
        match self.begin_status() {
            Ok(status) => {
                *self.engine.run = status;
                self.send_to_engine(id, request, Vec::new());
            }
            Err(problem) => self.fail(problem),
        }
    }
}

// What the engine says.
impl State {
    pub(super) fn engine_event(&mut self, Envelope { id, body }: Envelope<EngineEvent>) {
        if self.engine.load == Some(id) {
            self.load_event(body);
        } else if self.engine.masked_lm_load == Some(id) {
            self.masked_lm_event(body);
        } else if self.engine.job.as_ref().is_some_and(|job| job.id == id) {
            self.job_event(body);
        }
    }

    /// The worker is gone.
    pub(super) fn engine_lost(&mut self, problem: Problem) {
        self.engine.load = None;
        self.engine.masked_lm_load = None;
        // A model that broke the engine while it loaded would break it again.
        match self.engine.is_loading() {
            true => self.forget_model(),
            false => *self.engine.model = ModelState::NotLoaded,
        }
        self.fail(problem);
    }

    fn load_event(&mut self, event: EngineEvent) {
        match event {
            EngineEvent::Loading(progress) => *self.engine.model = ModelState::Loading(progress),
            EngineEvent::Ready(loaded) => {
                self.engine.load = None;
                self.model_is_ready(loaded);
            }
            EngineEvent::Failed(problem) => {
                self.engine.load = None;
                self.forget_model();
                self.fail(problem);
            }
            _ => {}
        }
    }

    fn model_is_ready(&mut self, loaded: LoadedModel) {
        if loaded.glasscage != GLASSCAGE {
            self.forget_model();
            return self.fail(Problem::new("The page was updated while it was open", "Reload it, then press Explain again"));
        }
        *self.engine.model = ModelState::Ready(loaded);
        // Somebody who reads a local file asked for no built-in model.
        if !matches!(*self.engine.choice, ModelChoice::Files(_)) {
            self.emit(Effect::RegisterServiceWorker);
        }
        self.begin();
    }

    fn job_event(&mut self, event: EngineEvent) {
        match event {
            // The engine lost the model, and loads it again before it begins.
            EngineEvent::Loading(progress) => *self.engine.model = ModelState::Loading(progress),
            EngineEvent::Ready(loaded) => *self.engine.model = ModelState::Ready(loaded),
            EngineEvent::Progress(progress) => self.explain_progress(progress),
            EngineEvent::Passes(passes) => self.engine.run.passes_done([passes.done, passes.planned], self.now_millis),
            EngineEvent::Work(work) => self.learn_speed(work),
            EngineEvent::Explained { document, problem } => self.explained(*document, problem),
            EngineEvent::DeletionCurves(curves) => self.deletion_measured(&curves),
            EngineEvent::Words(words) => self.words_measured(words),
            EngineEvent::Answered(document) => self.answered_without_excluded(&document),
            EngineEvent::Stopped { answer } => self.stopped(answer),
            EngineEvent::Failed(problem) => {
                if self.engine.is_loading() {
                    self.forget_model();
                }
                self.fail(problem);
            }
            EngineEvent::MaskedLmLoaded => {}
        }
    }

    fn explain_progress(&mut self, progress: ExplainProgress) {
        let is_follow_up = self.is_follow_up();
        match progress {
            ExplainProgress::Token(piece) => {
                self.engine.run.token(&piece);
                self.ablation_token(&piece);
            }
            ExplainProgress::Answered(document) if is_follow_up => {
                self.engine.run.passes_done(document.method.passes, self.now_millis);
            }
            ExplainProgress::Answered(document) => {
                *self.engine.run = RunStatus::measuring(document.method.passes[1], self.now_millis);
                let document = self.derived_as_shared(*document);
                self.show(document, Origin::Here);
            }
            ExplainProgress::BaseScored => {}
            ExplainProgress::Pass { done, planned } => self.engine.run.passes_done([done, planned], self.now_millis),
            ExplainProgress::Column { source, scores, done, planned } => {
                self.engine.run.passes_done([done, planned], self.now_millis);
                if !is_follow_up {
                    self.explanation.fill_column(source, &scores, [done, planned]);
                }
            }
        }
    }

    /// What the run took, and what that says of the next one.
    fn learn_speed(&mut self, work: WorkStats) {
        *self.engine.work = Some(work);
        let began_millis = self.engine.job.as_ref().map_or(self.now_millis, |job| job.began_millis);
        let seconds = (self.now_millis - began_millis) / 1e3;
        let speed = self.engine.loaded().and_then(|loaded| Speed::of(loaded.model.parameters, &work, seconds));
        if let Some(speed) = speed {
            self.engine.speed = Some(speed);
            self.emit(Effect::RememberForVisits { key: SPEED_KEY, text: Some(speed.to_string()) });
        }
    }

    /// An explanation is complete, or was until Stop or until `problem`.
    fn explained(&mut self, document: Document, problem: Option<Problem>) {
        match self.is_follow_up() {
            true => self.compared(document),
            false => self.finish(document),
        }
        if let Some(problem) = problem {
            *self.engine.run = RunStatus::Idle;
            *self.problem = Some(problem);
        }
    }

    /// The final document takes the place of the growing one; what the visitor has chosen meanwhile stays.
    fn finish(&mut self, document: Document) {
        let purpose = self.end_run(RunStatus::Done(self.engine.run.outcome(document.method.passes)));
        match self.explanation.document().filter(|growing| growing.is_same_text(&document)) {
            Some(growing) => {
                let derived = document.clone().derived(growing.method.aggregation, growing.method.normalization);
                self.explanation.replace(derived, Origin::Here);
            }
            None => self.show(derived_as(&purpose, document.clone()), Origin::Here),
        }
        *self.explanation.reproduction = match purpose {
            Some(Purpose::Recompute(shared)) => Some(Reproduction::of(&shared, &document)),
            _ => None,
        };
    }

    /// The visitor pressed Stop before anything was measured.
    fn stopped(&mut self, answer: String) {
        let is_kept = !answer.is_empty() && !self.is_follow_up();
        let words = if is_kept { "Stopped; the answer so far is under \u{201c}Explain a given answer\u{201d}" } else { "Stopped" };
        self.end_run(RunStatus::Done(words.into()));
        if is_kept {
            self.keep_answer(answer);
        }
    }

    /// A model that could not be loaded is not tried again by itself.
    fn forget_model(&mut self) {
        *self.engine.model = ModelState::NotLoaded;
        self.set_model_choice(ModelChoice::BuiltIn);
        self.engine.files.clear();
    }

    pub(super) fn fail(&mut self, problem: Problem) {
        if let Some(answer) = self.engine.run.answer().map(str::to_owned) {
            self.keep_answer(answer);
        }
        self.end_run(RunStatus::Idle);
        *self.problem = Some(problem);
    }

    /// Nothing is asked of the engine any more; returns what the run was for.
    pub(super) fn end_run(&mut self, status: RunStatus) -> Option<Purpose> {
        *self.engine.run = status;
        self.explanation.settle_ablations();
        self.engine.job.take().map(|job| job.purpose)
    }

    /// An explanation that is recomputed has its graph made as the one before.
    fn derived_as_shared(&self, document: Document) -> Document {
        derived_as(&self.engine.job.as_ref().map(|job| job.purpose.clone()), document)
    }
}

fn derived_as(purpose: &Option<Purpose>, document: Document) -> Document {
    match purpose {
        Some(Purpose::Recompute(shared)) => document.derived(shared.method.aggregation, shared.method.normalization),
        _ => document,
    }
}
