//! In the worker: takes requests one after the other and answers with events.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use gloo::timers::future::TimeoutFuture;
use serde::Serialize;
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use web_sys::{Blob, DedicatedWorkerGlobalScope, File, MessageEvent};

use super::library::service::LibraryService;
use super::library::service::stored_models::{self, OpenedModel};
use super::protocol::{Event, ModelSource, Request};
use super::sources::{BlobSource, UrlSource};
use crate::cpu::masked::MaskedLm;
use crate::engine::Engine;
use crate::lm::{Counters, LanguageModel};
use crate::model::source::{ByteSource, Joined};
use crate::problem::Problem;
use crate::request::{BackendChoice, ExplainProgress, LoadProgress, PassProgress, Question, WorkStats};
use crate::session::{AnswerResult, ExplainResult, Session};

/// How long the worker may compute before it looks whether the visitor pressed Stop.
const TURN_MILLIS: f64 = 40.0;

/// Listens for requests for as long as the worker lives.
pub fn run() {
    console_error_panic_hook::set_once();
    let (sender, requests) = unbounded();
    let page = Rc::new(Page::default());
    let library = {
        let page = page.clone();
        Rc::new(LibraryService::new(move |event| page.post(&Event::Library(event))))
    };
    let listener = {
        let page = page.clone();
        Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| match read_request(&message) {
            // Requests wait their turn; Cancel must overtake the one that is going on.
            Ok((Request::Cancel, _)) => page.cancelled.set(true),
            Ok((Request::Library(request), _)) => {
                let library = library.clone();
                wasm_bindgen_futures::spawn_local(async move { library.serve(request).await });
            }
            Ok(request) => drop(sender.unbounded_send(request)),
            Err(error) => page.post(&Event::Failed(Problem::new(error, "Reload the page."))),
        })
    };
    scope().set_onmessage(Some(listener.as_ref().unchecked_ref()));
    listener.forget();
    wasm_bindgen_futures::spawn_local(serve(requests, page));
    scope().post_message(&"ready".into()).expect("a worker can post a string");
}

async fn serve(mut requests: UnboundedReceiver<(Request, Vec<File>)>, page: Rc<Page>) {
    let mut engine = EngineState::default();
    while let Some((request, files)) = requests.next().await {
        page.cancelled.set(false);
        let done = match request {
            Request::Load(source, backend) => {
                engine.model = Some(Chosen { source, files, backend });
                engine.load(&page).await
            }
            Request::Explain(question) => engine.explain(&question, &page).await,
            Request::Answer(question) => engine.answer(&question, &page).await,
            Request::Words(question, source) => engine.words(&question, source, &page).await,
            Request::Check(question, orders) => engine.check(&question, &orders, &page).await,
            Request::MaskedLm => engine.take_masked_lm(files, &page).await,
            Request::Cancel | Request::Library(_) => Ok(()),
        };
        if let Err(problem) = done {
            page.post(&Event::Failed(problem));
        }
    }
}

/// The model, and where it came from: a device that was lost takes the model with it.
#[derive(Default)]
struct EngineState {
    model: Option<Chosen>,
    session: Option<Session<Engine>>,
    masked_lm: Option<MaskedLmOfFiles>,
}

/// A masked language model, and the files that it was read from.
struct MaskedLmOfFiles {
    files: Vec<File>,
    masked_lm: Rc<MaskedLm>,
}

struct Chosen {
    source: ModelSource,
    files: Vec<File>,
    backend: BackendChoice,
}

impl EngineState {
    async fn load(&mut self, page: &Page) -> Result<(), Problem> {
        // The old model goes first: two rarely fit.
        self.session = None;
        let chosen = self.model.as_ref().ok_or_else(|| Problem::new("no model is loaded", "Reload the page."))?;
        self.session = load(chosen, page).await?;
        self.lend_masked_lm();
        self.session.iter().for_each(|session| page.post(&Event::Ready(session.loaded_model())));
        Ok(())
    }

    /// Reads a masked language model whole; not again where its files are those of the one that is there.
    async fn take_masked_lm(&mut self, files: Vec<File>, page: &Page) -> Result<(), Problem> {
        if !self.masked_lm.as_ref().is_some_and(|known| are_same(&known.files, &files)) {
            // The old one goes first.
            self.masked_lm = None;
            self.lend_masked_lm();
            let masked_lm = Rc::new(read_masked_lm(&files).await?);
            self.masked_lm = Some(MaskedLmOfFiles { files, masked_lm });
        }
        self.lend_masked_lm();
        page.post(&Event::MaskedLm);
        Ok(())
    }

    fn lend_masked_lm(&mut self) {
        if let Some(session) = &mut self.session {
            session.masked_lm = self.masked_lm.as_ref().map(|known| known.masked_lm.clone());
        }
    }

    /// The session, loaded anew where it is lost; `None`, and said so, where the visitor broke that off.
    async fn ready(&mut self, page: &Page) -> Result<Option<&mut Session<Engine>>, Problem> {
        // A device may be lost between two questions too.
        if self.session.as_ref().is_none_or(|session| session.lm.is_lost()) {
            self.load(page).await?;
        }
        if self.session.is_none() {
            page.post(&Event::Stopped { answer: String::new() });
        }
        Ok(self.session.as_mut())
    }

    async fn explain(&mut self, question: &Question, page: &Page) -> Result<(), Problem> {
        let Some(session) = self.ready(page).await? else { return Ok(()) };
        let before = session.lm.counters();
        let outcome = session.explain(question, async |progress| page.tell(event_of(progress)).await).await;
        self.account(&before, page);
        match outcome? {
            ExplainResult::Explained(document) => page.post(&Event::Finished(*document)),
            ExplainResult::Stopped { answer } => page.post(&Event::Stopped { answer }),
            ExplainResult::Failed { measured, problem } => {
                page.post(&Event::Finished(*measured));
                return Err(problem);
            }
        }
        Ok(())
    }

    async fn answer(&mut self, question: &Question, page: &Page) -> Result<(), Problem> {
        let Some(session) = self.ready(page).await? else { return Ok(()) };
        let before = session.lm.counters();
        let reply = session.answer(question, async |token| page.tell(Event::Token(token)).await).await;
        self.account(&before, page);
        page.post(&match reply? {
            AnswerResult::Answered(answered) => Event::Answered(answered.document),
            AnswerResult::Stopped { answer } => Event::Stopped { answer },
        });
        Ok(())
    }

    /// Says what was done since `before`; a device that was lost takes the session with it.
    fn account(&mut self, before: &Counters, page: &Page) {
        let Some(session) = &self.session else { return };
        page.post(&Event::Worked(work(before, &session.lm.counters())));
        if session.lm.is_lost() {
            self.session = None;
        }
    }

    async fn words(&mut self, question: &Question, source: usize, page: &Page) -> Result<(), Problem> {
        let Some(session) = self.ready(page).await? else { return Ok(()) };
        let before = session.lm.counters();
        let words =
            session.words(question, source, async |PassProgress { done, planned }| page.tell(Event::Checking([done, planned])).await).await;
        self.account(&before, page);
        page.post(&words?.map_or(Event::Stopped { answer: String::new() }, |words| Event::Words { source, words }));
        Ok(())
    }

    async fn check(&mut self, question: &Question, orders: &[Vec<usize>], page: &Page) -> Result<(), Problem> {
        let Some(session) = self.ready(page).await? else { return Ok(()) };
        let before = session.lm.counters();
        let checked = session
            .deletion_curves(question, orders, async |PassProgress { done, planned }| page.tell(Event::Checking([done, planned])).await)
            .await;
        self.account(&before, page);
        page.post(&checked?.map_or(Event::Stopped { answer: String::new() }, Event::Checked));
        Ok(())
    }
}

fn event_of(progress: ExplainProgress) -> Event {
    match progress {
        ExplainProgress::Token(text) => Event::Token(text),
        ExplainProgress::Answered(document) => Event::Measuring(*document),
        ExplainProgress::BaseScored => Event::Scored,
        ExplainProgress::Pass { done, planned } => Event::Passed([done, planned]),
        ExplainProgress::Column { source, scores, done, planned } => Event::Column { column: source, scores, passes: [done, planned] },
    }
}

fn work(before: &Counters, after: &Counters) -> WorkStats {
    WorkStats {
        forward_tokens: after.forward_tokens - before.forward_tokens,
        head_positions: after.head_positions - before.head_positions,
        dispatches: after.dispatches - before.dispatches,
        gpu_bytes: after.peak_gpu_bytes,
        heap_bytes: heap_bytes(),
    }
}

/// A wasm memory never shrinks, so its size is its largest.
fn heap_bytes() -> u64 {
    let memory: js_sys::WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    let buffer: js_sys::ArrayBuffer = memory.buffer().unchecked_into();
    buffer.byte_length().into()
}

async fn load(Chosen { source, files, backend }: &Chosen, page: &Page) -> Result<Option<Session<Engine>>, Problem> {
    match source {
        ModelSource::Files if files.is_empty() => Err(Problem::new("no model file came with the request", "Choose the file again.")),
        ModelSource::Files => load_from(&joined(files.iter().cloned().map(Into::into)), *backend, page).await,
        ModelSource::Kept(id) => load_kept(id, *backend, page).await,
        ModelSource::Url(url) => {
            let unreachable = |error| {
                Problem::new(format!("the model at {url} could not be loaded: {error}"), "Check the connection and press Explain again.")
            };
            load_from(&UrlSource::open(url.clone()).await.map_err(unreachable)?, *backend, page).await
        }
    }
}

fn are_same(files: &[File], others: &[File]) -> bool {
    let facts = |file: &File| (file.name(), file.size() as u64, file.last_modified() as u64);
    files.iter().map(facts).eq(others.iter().map(facts))
}

/// The model in the three files that such models are published in.
async fn read_masked_lm(files: &[File]) -> Result<MaskedLm, Problem> {
    const REMEDY: &str = "Choose config.json, tokenizer.json and model.safetensors of a RoBERTa model, all three together.";
    let mut contents = Vec::new();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let file = files.iter().find(|file| file.name() == name);
        let file = file.ok_or_else(|| Problem::new(format!("the file {name} of the masked language model is missing"), REMEDY))?;
        let source = BlobSource(file.clone().into());
        let length = usize::try_from(source.size()).map_err(|_| Problem::new(format!("{name} is too large"), REMEDY))?;
        contents.push(source.read_at(0, length).await.map_err(|error| Problem::new(error.to_string(), REMEDY))?);
    }
    let [config, tokenizer, weights] = contents.try_into().expect("three files");
    MaskedLm::load(&config, &tokenizer, weights).map_err(|error| Problem::new(error.to_string(), REMEDY))
}

/// A model from the browser's storage, which must still be what was verified when it arrived.
async fn load_kept(id: &str, backend: BackendChoice, page: &Page) -> Result<Option<Session<Engine>>, Problem> {
    let OpenedModel { blobs, sha256 } = stored_models::open(id).await?;
    let session = load_from(&joined(blobs), backend, page).await?;
    match &session {
        Some(session) if session.loaded_model().model.sha256 != sha256 => Err(Problem::new(
            "this model is damaged: it is not what was downloaded any more",
            "Delete it under Models and download it again.",
        )),
        _ => Ok(session),
    }
}

fn joined(parts: impl IntoIterator<Item = Blob>) -> Joined<BlobSource> {
    Joined::new(parts.into_iter().map(BlobSource).collect())
}

async fn load_from(source: &impl ByteSource, backend: BackendChoice, page: &Page) -> Result<Option<Session<Engine>>, Problem> {
    let event = |LoadProgress { read_bytes, total_bytes, memory_bytes }| Event::Loading {
        bytes: read_bytes,
        total: total_bytes,
        memory: memory_bytes,
    };
    Session::load(source, backend, async |progress| page.tell(event(progress)).await).await
}

/// The other side.
#[derive(Default)]
struct Page {
    cancelled: Cell<bool>,
    turn_began_millis: Cell<f64>,
}

impl Page {
    fn post(&self, event: &Event) {
        let message = event.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).expect("events are plain data");
        scope().post_message(&message).expect("plain data can be posted");
    }

    /// Posts `event`, lets messages in now and then, and breaks off where the visitor pressed Stop.
    async fn tell(&self, event: Event) -> ControlFlow<()> {
        self.post(&event);
        let now = js_sys::Date::now();
        if now - self.turn_began_millis.get() > TURN_MILLIS {
            TimeoutFuture::new(0).await;
            self.turn_began_millis.set(js_sys::Date::now());
        }
        if self.cancelled.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn read_request(message: &MessageEvent) -> Result<(Request, Vec<File>), String> {
    let message: js_sys::Array = message.data().into();
    let request =
        serde_wasm_bindgen::from_value(message.get(0)).map_err(|error| format!("the engine did not understand the page ({error})"))?;
    let files = message.get(1).dyn_into::<js_sys::Array>().unwrap_or_default();
    Ok((request, files.iter().filter_map(|file| file.dyn_into().ok()).collect()))
}

fn scope() -> DedicatedWorkerGlobalScope {
    JsValue::from(js_sys::global()).unchecked_into()
}
