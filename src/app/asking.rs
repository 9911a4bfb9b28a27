//! From a press on Explain to a document: what goes to the worker, and what its events change.

use gloo::timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::File;

use super::beside::Job;
use super::browser;
use super::choice::Choice;
use super::masked::MaskedLm;
use super::reproduction::Reproduction;
use super::run::Run;
use super::speed::Speed;
use super::state::{ModelState, Origin, Page, Shown};
use crate::explanation::{Answer, Document, Method, Sampling};
use crate::problem::Problem;
use crate::worker::client::{BackendChoice, Client, Event, GLASSCAGE, Message, ModelSource, Question, Ready, Request, Work};

/// How long Stop waits for the engine to end in good order.
const PATIENCE_MILLIS: u32 = 4_000;

/// The engine that the address asks for: `?backend=cpu` or `?backend=gpu`.
fn backend(query: &str) -> BackendChoice {
    let asked = query.trim_start_matches('?').split('&').find_map(|part| part.strip_prefix("backend="));
    match asked {
        Some("cpu") => BackendChoice::Cpu,
        Some("gpu") => BackendChoice::Gpu,
        _ => BackendChoice::Auto,
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

impl Page {
    /// Answers the prompt (or takes the given answer) and explains it; loads the model first where needed.
    pub fn explain(&self) {
        if self.run.with_untracked(Run::is_active) {
            return;
        }
        let (prompt, given) = (self.prompt.get_untracked(), self.given.get_untracked());
        if prompt.trim().is_empty() {
            return self.problem.set(Some(Problem::new("There is no prompt yet", "Write one, or choose an example")));
        }
        let question = self.settings.with_untracked(|settings| settings.question(&prompt, &given));
        self.request(Job::Explain, Request::Explain(question));
    }

    /// Makes the explanation on screen again, as its document says it was made, and compares.
    pub fn explain_again(&self) {
        let Some(shown) = self.shown.get_untracked().filter(|_| !self.run.with_untracked(Run::is_active)) else { return };
        let document = shown.graph.document().clone();
        let question = question_of(&document);
        self.replace_texts(&question.prompt, question.answer.as_deref().unwrap_or_default());
        self.editor_is_open.set(true);
        self.request(Job::Again(Box::new(document)), Request::Explain(question));
    }

    /// Sends what the visitor asks for; loads the model first where needed.
    pub(super) fn request(&self, job: Job, request: Request) {
        self.problem.set(None);
        self.work.set(None);
        self.engine.update_value(|engine| {
            engine.runs += 1;
            engine.job = job;
        });
        match self.model.get_untracked() {
            ModelState::Ready(ready) => self.begin(&request, &ready),
            state => {
                self.engine.update_value(|engine| engine.asked = Some(request));
                self.run.set(Run::Preparing);
                if state == ModelState::NotLoaded {
                    self.load();
                }
            }
        }
    }

    /// Ends the run and keeps what is done.
    pub fn stop(&self) {
        match self.run.get_untracked() {
            Run::Preparing => {
                self.engine.update_value(|engine| engine.asked = None);
                self.end_engine();
            }
            run if run.is_active() => {
                self.send(&Request::Cancel);
                self.insist_on_stop();
            }
            _ => {}
        }
    }

    /// An engine in the middle of a long step hears of Stop only after it. A visitor does not wait for that.
    fn insist_on_stop(&self) {
        let page = *self;
        let current = move || page.engine.with_value(|engine| engine.runs);
        let stopped = current();
        spawn_local(async move {
            TimeoutFuture::new(PATIENCE_MILLIS).await;
            if current() == stopped && page.run.with_untracked(Run::is_active) {
                page.end_engine();
            }
        });
    }

    fn client(&self) -> Option<Client> {
        self.engine.with_value(|engine| engine.client.clone())
    }

    fn end_engine(&self) {
        if let Some(client) = self.client() {
            client.terminate();
        }
        self.model.set(ModelState::NotLoaded);
        let run = self.run.get_untracked();
        self.run.set(Run::Done(format!("{}; the model loads again at the next Explain", run.broken_off())));
        if let Some(answer) = run.answer() {
            self.keep_answer(answer.to_owned());
        }
        self.settle_trial();
    }

    /// Takes this model from now on; `files` are those of a local one.
    pub fn choose_model(&self, choice: Choice, files: Vec<File>) {
        if self.run.with_untracked(Run::is_active) {
            return self.problem.set(Some(Problem::new("The engine is busy", "Wait or press Stop, then choose again")));
        }
        if let (ModelState::Loading { .. }, Some(client)) = (self.model.get_untracked(), self.client()) {
            // Nobody waits for a model that is not wanted any more.
            client.terminate();
        }
        self.problem.set(None);
        self.editor_is_open.set(true);
        choice.remember();
        self.choice.set(choice);
        self.engine.update_value(|engine| engine.files = files);
        self.load();
    }

    fn load(&self) {
        self.model.set(ModelState::Loading { bytes: 0, total: 0, memory: 0 });
        let source = self.choice.with_untracked(Choice::source);
        self.send(&Request::Load(source, backend(&browser::query())));
        self.send_masked_lm();
    }

    pub(super) fn send(&self, request: &Request) {
        let page = *self;
        self.engine.update_value(|engine| {
            engine.client.get_or_insert_with(|| Client::new(move |message| page.receive(message)));
        });
        let Some(client) = self.client() else { return };
        let files = self.engine.with_value(|engine| match request {
            Request::Load(ModelSource::Files, _) => engine.files.clone(),
            Request::MaskedLm => engine.masked_lm.clone(),
            _ => Vec::new(),
        });
        client.send(request, &files);
    }

    fn receive(&self, message: Message) {
        match message {
            Ok(event) => self.receive_event(event),
            Err(problem) => {
                // A model that broke the engine while it loaded would break it again.
                match self.model.get_untracked() {
                    ModelState::Loading { .. } => self.forget_model(),
                    _ => self.model.set(ModelState::NotLoaded),
                }
                self.fail(problem);
            }
        }
    }

    fn receive_event(&self, event: Event) {
        match event {
            Event::Loading { bytes, total, memory } => self.model.set(ModelState::Loading { bytes, total, memory }),
            Event::Ready(ready) => self.model_is_ready(ready),
            Event::Token(piece) => {
                self.run.update(|run| run.token(&piece));
                self.trial_goes_on(&piece);
            }
            Event::Measuring(document) if self.is_beside() => self.run.update(|run| run.passed(document.method.passes, 0.0)),
            Event::Measuring(document) => {
                self.run.set(Run::measuring(document.method.passes[1], browser::now_millis()));
                self.show(self.as_shared(document), Origin::Here);
            }
            Event::Passed(passes) => self.run.update(|run| run.passed(passes, browser::now_millis())),
            Event::Column { column, scores, passes } => {
                self.run.update(|run| run.passed(passes, browser::now_millis()));
                if !self.is_beside() {
                    self.fill_column(column, &scores, passes);
                }
            }
            // The library has a worker of its own.
            Event::Scored | Event::Library(_) => {}
            Event::Checking(passes) => self.run.update(|run| run.passed(passes, 0.0)),
            Event::Checked(checked) => self.checked(&checked),
            Event::Words { source, words } => self.opened(source, words),
            Event::Answered(document) => self.answered_again(&document),
            Event::Worked(work) => self.learn_speed(work),
            Event::Finished(document) if self.is_beside() => self.compared(document),
            Event::Finished(document) => {
                let passes = document.method.passes;
                self.run.update(|run| *run = Run::Done(run.outcome(passes)));
                self.finish(document);
            }
            Event::Stopped { answer } if answer.is_empty() || self.is_beside() => {
                self.run.set(Run::Done("Stopped".into()));
                self.settle_trial();
            }
            Event::Stopped { answer } => {
                self.run.set(Run::Done("Stopped; the answer so far is under \u{201c}Explain a given answer\u{201d}".into()));
                self.keep_answer(answer);
            }
            Event::MaskedLm => self.masked_lm.set(MaskedLm::Ready),
            Event::Failed(problem) => {
                self.forget_masked_lm();
                if matches!(self.model.get_untracked(), ModelState::Loading { .. }) {
                    self.forget_model();
                }
                self.fail(problem);
            }
        }
    }

    fn model_is_ready(&self, ready: Ready) {
        if ready.glasscage != GLASSCAGE {
            self.forget_model();
            return self.fail(Problem::new("The page was updated while it was open", "Reload it, then press Explain again"));
        }
        self.model.set(ModelState::Ready(ready.clone()));
        // Somebody who reads a local file asked for no built-in model.
        if !self.choice.with_untracked(|choice| matches!(choice, Choice::Files(_))) {
            self.keep_for_offline();
        }
        if let Some(request) = self.engine.try_update_value(|engine| engine.asked.take()).flatten() {
            self.begin(&request, &ready);
        }
    }

    /// What the run took, and what that says of the next one.
    fn learn_speed(&self, work: Work) {
        self.work.set(Some(work));
        let seconds = (browser::now_millis() - self.engine.with_value(|engine| engine.began_millis)) / 1e3;
        if let ModelState::Ready(ready) = self.model.get_untracked()
            && let Some(speed) = Speed::of(ready.model.parameters, &work, seconds)
        {
            speed.keep();
        }
    }

    fn begin(&self, request: &Request, ready: &Ready) {
        self.engine.update_value(|engine| engine.began_millis = browser::now_millis());
        match self.is_beside().then(|| self.begin_beside(ready)) {
            None => self.run.set(Run::answering()),
            Some(Ok(run)) => self.run.set(run),
            Some(Err(problem)) => return self.fail(problem),
        }
        self.send(request);
    }

    /// Puts an unfinished answer where it can be explained; a text of the visitor's own there stays.
    fn keep_answer(&self, answer: String) {
        if self.given.with_untracked(String::is_empty) {
            self.given.set(answer);
        }
    }

    /// A model that could not be loaded is not tried again by itself.
    fn forget_model(&self) {
        self.model.set(ModelState::NotLoaded);
        Choice::BuiltIn.remember();
        self.choice.set(Choice::BuiltIn);
        self.engine.update_value(|engine| engine.files = Vec::new());
    }

    fn fail(&self, problem: Problem) {
        if let Some(answer) = self.run.with_untracked(|run| run.answer().map(str::to_owned)) {
            self.keep_answer(answer);
        }
        self.engine.update_value(|engine| engine.asked = None);
        self.run.set(Run::Idle);
        self.settle_trial();
        self.problem.set(Some(problem));
    }

    fn fill_column(&self, column: usize, scores: &[f64], passes: [usize; 2]) {
        let Some(Shown { graph, origin: origin @ Origin::Here }) = self.shown.get_untracked() else { return };
        let mut document = graph.document().clone();
        if column < document.table.n_sources() && scores.len() == document.table.rows_after(column).len() {
            document.table.set_column(column, scores);
            document.method.passes = passes;
            self.shown.set(Some(Shown::new(document, origin)));
        }
    }

    /// An explanation made again has its graph made as the one before.
    fn as_shared(&self, document: Document) -> Document {
        self.engine.with_value(|engine| match &engine.job {
            Job::Again(shared) => document.derived(shared.method.aggregation, shared.method.normalization),
            _ => document,
        })
    }

    /// The final document takes the place of the growing one; what the visitor has chosen meanwhile stays.
    fn finish(&self, document: Document) {
        let growing = self.shown.with_untracked(|shown| {
            let growing = shown.as_ref().map(|shown| shown.graph.document());
            growing.filter(|growing| growing.is_same_text(&document)).map(|growing| growing.method.clone())
        });
        match growing {
            Some(Method { aggregation, normalization, .. }) => {
                self.shown.set(Some(Shown::new(document.clone().derived(aggregation, normalization), Origin::Here)));
            }
            None => self.show(self.as_shared(document.clone()), Origin::Here),
        }
        let shared = match self.take_job() {
            Job::Again(shared) => Some(shared),
            _ => None,
        };
        self.reproduction.set(shared.map(|shared| Reproduction::of(&shared, &document)));
    }

    pub(super) fn take_job(&self) -> Job {
        self.engine.try_update_value(|engine| std::mem::take(&mut engine.job)).unwrap_or_default()
    }
}
