//! Runs in the engine's worker. Handles requests in order and answers each under its id.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use web_sys::{Blob, File};

use glasscage_message::{Message, ToMessage, message};

use super::protocol::{EngineEvent, EngineRequest, ModelSource};
use super::scorer::client::Scorers;
use super::sources::BrowserFile;
use crate::cpu::{self, Helpers};
use crate::engine::{Engine, MaskedLm};
use crate::library::errors::LibraryError;
use crate::lm::{Counters, LanguageModel};
use crate::model::source::{ByteSource, Joined};
use crate::problem::Problem;
use crate::request::{BackendChoice, ExplainProgress, LoadOptions, LoadProgress, Question, WorkStats};
use crate::session::{AnswerResult, ExplainResult, Session, with_given_texts};
use crate::worker::device;
use crate::worker::envelope::{Envelope, RequestId};
use crate::worker::scope;
use crate::worker::storage::stored_models::{self, OpenedModel};

/// How long the worker may compute before it checks whether the user pressed Stop.
const TURN_MILLIS: f64 = 40.0;

/// Serves requests until the worker is terminated.
pub fn run() {
    let (sender, requests) = unbounded();
    let canceled = Rc::<Cell<Option<RequestId>>>::default();
    wasm_bindgen_futures::spawn_local(serve(requests, canceled.clone()));
    scope::listen(move |request: Envelope<EngineRequest>, files| match request.body {
        // Requests are queued. Cancel must overtake the request that it cancels.
        EngineRequest::Cancel => canceled.set(Some(request.id)),
        _ => drop(sender.unbounded_send((request, files))),
    });
}

async fn serve(mut requests: UnboundedReceiver<(Envelope<EngineRequest>, Vec<File>)>, canceled: Rc<Cell<Option<RequestId>>>) {
    let mut engine = EngineState::default();
    while let Some((Envelope { id, body }, files)) = requests.next().await {
        let page = Page { id, canceled: canceled.clone(), turn_began_millis: Cell::default() };
        if let Err(problem) = engine.serve(body, files, &page).await {
            page.post(EngineEvent::Failed(problem));
        }
    }
}

/// The model and its source. If the device is lost, the model is lost too.
#[derive(Default)]
struct EngineState {
    model: Option<Chosen>,
    session: Option<Session<Engine>>,
    masked_lm: Option<MaskedLmOfFiles>,
}

/// A masked language model and its files.
struct MaskedLmOfFiles {
    files: Vec<File>,
    masked_lm: Rc<MaskedLm>,
}

struct Chosen {
    source: ModelSource,
    files: Vec<File>,
    options: LoadOptions,
    has_spare_core: bool,
    /// Why the CPU computes although `options` named no engine at first.
    notice: Option<Message>,
}

impl EngineState {
    async fn serve(&mut self, request: EngineRequest, files: Vec<File>, page: &Page) -> Result<(), Problem> {
        match request {
            EngineRequest::Load { source, options, has_spare_core } => {
                self.model = Some(Chosen { source, files, options, has_spare_core, notice: None });
                self.load(page).await
            }
            EngineRequest::Explain(question) => self.explain(&with_given_texts(question), page).await,
            EngineRequest::Answer(question) => self.answer(&with_given_texts(question), page).await,
            EngineRequest::MeasureWords { question, source } => self.words(&question, source, page).await,
            EngineRequest::MeasureDeletion { question, orders } => self.deletion(&question, &orders, page).await,
            EngineRequest::MeasureContrast { question, mark, alternative } => self.contrast(&question, mark, &alternative, page).await,
            EngineRequest::MeasureDevice => self.measure_device(page).await,
            EngineRequest::LoadMaskedLm => self.load_masked_lm(files, page).await,
            EngineRequest::CountTokens { prompt, reading, use_template } => {
                let n_tokens = self.session.as_ref().and_then(|session| session.count_tokens(&prompt, reading, use_template));
                page.post(EngineEvent::TokensCounted(n_tokens));
                Ok(())
            }
            EngineRequest::Cancel => Ok(()),
        }
    }

    async fn load(&mut self, page: &Page) -> Result<(), Problem> {
        // Free the old model first, because two models rarely fit.
        self.session = None;
        let chosen = self.model.as_ref().ok_or_else(|| Problem::new(message!("no model is loaded"), message!("Reload the page")))?;
        self.session = load(chosen, page).await?;
        self.share_masked_lm();
        if let (Some(session), Some(chosen)) = (&self.session, &mut self.model) {
            let loaded = session.loaded_model();
            chosen.options.kernel_shapes.clone_from(&loaded.kernel_shapes);
            page.post(EngineEvent::Ready(loaded));
        }
        Ok(())
    }

    /// Loads a masked language model, unless it is already loaded from the same files.
    async fn load_masked_lm(&mut self, files: Vec<File>, page: &Page) -> Result<(), Problem> {
        if !self.masked_lm.as_ref().is_some_and(|known| are_same(&known.files, &files)) {
            // Free the old one first.
            self.masked_lm = None;
            self.share_masked_lm();
            let masked_lm = Rc::new(read_masked_lm(&files).await?);
            self.masked_lm = Some(MaskedLmOfFiles { files, masked_lm });
        }
        self.share_masked_lm();
        page.post(EngineEvent::MaskedLmLoaded);
        Ok(())
    }

    fn share_masked_lm(&mut self) {
        if let Some(session) = &mut self.session {
            session.masked_lm = self.masked_lm.as_ref().map(|known| known.masked_lm.clone());
        }
    }

    /// The session; loads the model again if it is lost. Posts `Stopped` and returns `None` if the user canceled loading.
    async fn ready(&mut self, page: &Page) -> Result<Option<&mut Session<Engine>>, Problem> {
        // The device can also be lost between two requests.
        if self.session.as_ref().is_none_or(|session| session.lm.is_lost()) {
            self.load(page).await?;
        }
        match &self.session {
            Some(session) => session.lm.stop_when(page.is_stopped()),
            None => page.post(EngineEvent::Stopped),
        }
        Ok(self.session.as_mut())
    }

    async fn explain(&mut self, question: &Question, page: &Page) -> Result<(), Problem> {
        let Some(session) = self.ready(page).await? else { return Ok(()) };
        let before = session.lm.counters();
        // Helpers load the model while the answer is generated.
        if let Some(helpers) = helpers_of(&session.lm) {
            helpers.expect(session.expected_tokens(question));
        }
        let result = session.explain(question, &mut async |progress| page.post_and_yield(EngineEvent::Progress(progress)).await).await;
        self.account(&before, page);
        page.post(match result? {
            ExplainResult::Explained(document) => EngineEvent::Explained { document, problem: None },
            ExplainResult::Failed { measured, problem } => EngineEvent::Explained { document: measured, problem: Some(problem) },
            ExplainResult::Stopped { .. } => EngineEvent::Stopped,
        });
        Ok(())
    }

    async fn answer(&mut self, question: &Question, page: &Page) -> Result<(), Problem> {
        let Some(session) = self.ready(page).await? else { return Ok(()) };
        let before = session.lm.counters();
        let result = session
            .answer(question, &mut async |token| page.post_and_yield(EngineEvent::Progress(ExplainProgress::answering(token))).await)
            .await;
        self.account(&before, page);
        page.post(match result? {
            AnswerResult::Answered(answered) => EngineEvent::Answered(Box::new(answered.document)),
            AnswerResult::Stopped { .. } => EngineEvent::Stopped,
        });
        Ok(())
    }

    /// Posts the work done since `before`. Drops the session if the device was lost.
    fn account(&mut self, before: &Counters, page: &Page) {
        let Some(session) = &self.session else { return };
        page.post(EngineEvent::Work(work(before, &session.lm)));
        self.drop_lost_session();
    }

    /// Drops the session if the device was lost. If it computes incorrectly, the model is next loaded on the CPU.
    fn drop_lost_session(&mut self) {
        let Some(session) = &self.session else { return };
        if let (Some(notice), Some(chosen)) = (session.lm.notice_of_faulty_gpu(), &mut self.model) {
            (chosen.options.backend, chosen.notice) = (BackendChoice::Cpu, Some(notice));
        }
        if session.lm.is_lost() {
            self.session = None;
        }
    }

    async fn words(&mut self, question: &Question, source: usize, page: &Page) -> Result<(), Problem> {
        let Some(session) = self.ready(page).await? else { return Ok(()) };
        let before = session.lm.counters();
        let words = session.words(question, source, &mut async |passes| page.post_and_yield(EngineEvent::Passes(passes)).await).await;
        self.account(&before, page);
        page.post(words?.map_or(EngineEvent::Stopped, EngineEvent::Words));
        Ok(())
    }

    async fn deletion(&mut self, question: &Question, orders: &[Vec<usize>], page: &Page) -> Result<(), Problem> {
        let Some(session) = self.ready(page).await? else { return Ok(()) };
        let before = session.lm.counters();
        let curves =
            session.deletion_curves(question, orders, &mut async |passes| page.post_and_yield(EngineEvent::Passes(passes)).await).await;
        self.account(&before, page);
        page.post(curves?.map_or(EngineEvent::Stopped, EngineEvent::DeletionCurves));
        Ok(())
    }

    async fn contrast(&mut self, question: &Question, mark: [usize; 2], alternative: &str, page: &Page) -> Result<(), Problem> {
        let Some(session) = self.ready(page).await? else { return Ok(()) };
        let before = session.lm.counters();
        let mut on_pass = async |passes| page.post_and_yield(EngineEvent::Passes(passes)).await;
        let contrast = session.contrast(question, mark, alternative, &mut on_pass).await;
        self.account(&before, page);
        page.post(contrast?.map_or(EngineEvent::Stopped, EngineEvent::Contrast));
        Ok(())
    }

    async fn measure_device(&mut self, page: &Page) -> Result<(), Problem> {
        self.ready(page).await?;
        let (Some(session), Some(chosen)) = (&mut self.session, &self.model) else { return Ok(()) };
        let source = joined(open(chosen).await?.blobs);
        let measured = session.measure_device(&source, &mut async |()| page.yield_now().await).await;
        self.drop_lost_session();
        page.post(match measured? {
            None => EngineEvent::Stopped,
            Some(report) => EngineEvent::DeviceMeasured(serde_json::to_string(&report).expect("a report has only string keys")),
        });
        Ok(())
    }
}

fn work(before: &Counters, engine: &Engine) -> WorkStats {
    let after = engine.counters();
    let helpers = helpers_of(engine);
    WorkStats {
        forward_tokens: after.forward_tokens - before.forward_tokens,
        head_positions: after.head_positions - before.head_positions,
        dispatches: after.dispatches - before.dispatches,
        gpu_bytes: after.peak_gpu_bytes,
        heap_bytes: scope::heap_bytes() + helpers.map_or(0, Helpers::heap_bytes),
        workers: 1 + helpers.map_or(0, Helpers::n_working),
    }
}

/// The workers that share passes with the engine.
fn helpers_of(engine: &Engine) -> Option<&dyn Helpers> {
    if let Engine::Cpu(model) = engine { model.helpers() } else { None }
}

async fn load(chosen: &Chosen, page: &Page) -> Result<Option<Session<Engine>>, Problem> {
    let OpenedModel { blobs, sha256 } = open(chosen).await?;
    let source = joined(blobs.clone());
    let mut report = async |progress: LoadProgress| page.post_and_yield(EngineEvent::Loading(progress)).await;
    let Some(mut session) = Session::load(&source, chosen.options.clone(), &mut report).await? else { return Ok(None) };
    chosen.notice.iter().for_each(|notice| session.add_notice(notice.clone()));
    if !sha256.is_empty() && session.loaded_model().model.sha256 != sha256 {
        return Err(Problem::new(
            message!("this model is damaged: it no longer matches the downloaded file"),
            message!("Delete it under “Choose a model” and download it again"),
        ));
    }
    let n_workers = if chosen.has_spare_core { cpu::n_workers(device::cores(), device::memory(), source.size()) } else { 1 };
    if let Engine::Cpu(model) = &mut session.lm
        && n_workers > 1
    {
        model.share_passes(Rc::new(Scorers::new(blobs, source.size(), n_workers - 1)));
    }
    Ok(Some(session))
}

/// The blobs of a model, one after another.
fn joined(blobs: Vec<Blob>) -> Joined<BrowserFile> {
    Joined::new(blobs.into_iter().map(BrowserFile).collect())
}

/// Opens the files of a model. A stored model has the SHA-256 of its verified download, which must still match. Other models have none
/// here.
async fn open(Chosen { source, files, .. }: &Chosen) -> Result<OpenedModel, Problem> {
    let blobs = match source {
        ModelSource::Files if files.is_empty() => {
            return Err(Problem::new(message!("no model file came with the request"), message!("Choose the file again")));
        }
        ModelSource::Files => files.iter().map(|file| file.clone().into()).collect(),
        ModelSource::Stored(id) => return stored_models::open(id).await,
        ModelSource::Url(url) => {
            let unreachable = |error: LibraryError| {
                Problem::new(
                    message!("the model at {url} could not be loaded: {error}"),
                    message!("Check the connection, then start the explanation again"),
                )
            };
            vec![BrowserFile::fetch(url).await.map_err(unreachable)?.0]
        }
    };
    Ok(OpenedModel { blobs, sha256: String::new() })
}

fn are_same(files: &[File], others: &[File]) -> bool {
    let facts = |file: &File| (file.name(), file.size() as u64, file.last_modified() as u64);
    files.iter().map(facts).eq(others.iter().map(facts))
}

/// Reads a masked language model from the three files in which such models are published.
async fn read_masked_lm(files: &[File]) -> Result<MaskedLm, Problem> {
    let failed = |what| {
        let remedy = message!("Choose config.json, tokenizer.json, and model.safetensors of a RoBERTa model, all three together");
        Problem::new(what, remedy)
    };
    let mut contents = Vec::new();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let file = files.iter().find(|file| file.name() == name);
        let file = file.ok_or_else(|| failed(message!("the file {name} of the masked language model is missing")))?;
        let source = BrowserFile(file.clone().into());
        let length = usize::try_from(source.size()).map_err(|_| failed(message!("{name} is too large")))?;
        contents.push(source.read_at(0, length).await.map_err(|error| failed(error.to_message()))?);
    }
    let [config, tokenizer, weights] = contents.try_into().expect("three files");
    MaskedLm::load(&config, &tokenizer, weights).map_err(|error| failed(error.to_message()))
}

/// Sends events to the page for one request.
struct Page {
    id: RequestId,
    /// The request that the user canceled last.
    canceled: Rc<Cell<Option<RequestId>>>,
    turn_began_millis: Cell<f64>,
}

impl Page {
    fn post(&self, body: EngineEvent) {
        scope::post(&Envelope { id: self.id, body });
    }

    /// Posts `event`, then as [`Page::yield_now`].
    async fn post_and_yield(&self, event: EngineEvent) -> ControlFlow<()> {
        self.post(event);
        self.yield_now().await
    }

    /// Yields to incoming messages from time to time, and breaks if the user pressed Stop.
    async fn yield_now(&self) -> ControlFlow<()> {
        let now = js_sys::Date::now();
        if now - self.turn_began_millis.get() > TURN_MILLIS {
            scope::let_messages_in().await;
            self.turn_began_millis.set(js_sys::Date::now());
        }
        if self.is_stopped()() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether the user pressed Stop. Messages arrive while the engine waits for the GPU.
    fn is_stopped(&self) -> Rc<dyn Fn() -> bool> {
        let (id, canceled) = (self.id, self.canceled.clone());
        Rc::new(move || canceled.get() == Some(id))
    }
}
