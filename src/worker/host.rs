//! In the worker: takes requests one after the other and answers with events.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use gloo::timers::future::TimeoutFuture;
use serde::Serialize;
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, File, MessageEvent};

use super::protocol::{Event, ModelSource, Question, Request};
use super::sources::{BlobSource, UrlSource};
use crate::cpu::CandleModel;
use crate::model::source::ByteSource;
use crate::problem::Problem;
use crate::session::{Outcome, Session};

/// How long the worker may compute before it looks whether the visitor pressed Stop.
const TURN_MILLIS: f64 = 40.0;

/// Listens for requests for as long as the worker lives.
pub fn run() {
    console_error_panic_hook::set_once();
    let (sender, requests) = unbounded();
    let page = Rc::new(Page::default());
    let listener = {
        let page = page.clone();
        Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| match read_request(&message) {
            // Requests wait their turn; Cancel must overtake the one that is going on.
            Ok((Request::Cancel, _)) => page.cancelled.set(true),
            Ok(request) => drop(sender.unbounded_send(request)),
            Err(error) => page.post(&Event::Failed(Problem::new(error, "Reload the page."))),
        })
    };
    scope().set_onmessage(Some(listener.as_ref().unchecked_ref()));
    listener.forget();
    wasm_bindgen_futures::spawn_local(serve(requests, page));
    scope().post_message(&"ready".into()).expect("a worker can post a string");
}

async fn serve(mut requests: UnboundedReceiver<(Request, Option<File>)>, page: Rc<Page>) {
    let mut session = None;
    while let Some((request, file)) = requests.next().await {
        page.cancelled.set(false);
        let answer = match request {
            Request::Load(source) => {
                // The old model goes first: two rarely fit.
                session = None;
                load(source, file, &page).await.map(|loaded| {
                    let ready = loaded.as_ref().map(|session| Event::Ready(session.ready()));
                    session = loaded;
                    ready
                })
            }
            Request::Explain(question) => explain(session.as_mut(), &question, &page).await.map(Some),
            Request::Cancel => Ok(None),
        };
        match answer {
            Ok(Some(event)) => page.post(&event),
            Ok(None) => {}
            Err(problem) => page.post(&Event::Failed(problem)),
        }
    }
}

async fn load(source: ModelSource, file: Option<File>, page: &Page) -> Result<Option<Session<CandleModel>>, Problem> {
    match (source, file) {
        (ModelSource::File, Some(file)) => load_from(&BlobSource(file.into()), page).await,
        (ModelSource::File, None) => Err(Problem::new("no model file came with the request", "Choose the file again.")),
        (ModelSource::Url(url), _) => {
            let unreachable = |error| {
                Problem::new(format!("the model at {url} could not be loaded: {error}"), "Check the connection and press Explain again.")
            };
            load_from(&UrlSource::open(url.clone()).await.map_err(unreachable)?, page).await
        }
    }
}

async fn load_from(source: &impl ByteSource, page: &Page) -> Result<Option<Session<CandleModel>>, Problem> {
    let total = source.size();
    Session::load(source, async |bytes| page.tell(Event::Loading { bytes, total }).await).await
}

async fn explain(session: Option<&mut Session<CandleModel>>, question: &Question, page: &Page) -> Result<Event, Problem> {
    let session = session.ok_or_else(|| Problem::new("no model is loaded", "Press Explain again."))?;
    Ok(match session.explain(question, async |event| page.tell(event).await).await? {
        Outcome::Explained(document) => Event::Finished(*document),
        Outcome::Stopped { answer } => Event::Stopped { answer },
    })
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

fn read_request(message: &MessageEvent) -> Result<(Request, Option<File>), String> {
    let message: js_sys::Array = message.data().into();
    let request =
        serde_wasm_bindgen::from_value(message.get(0)).map_err(|error| format!("the engine did not understand the page ({error})"))?;
    Ok((request, message.get(1).dyn_into().ok()))
}

fn scope() -> DedicatedWorkerGlobalScope {
    JsValue::from(js_sys::global()).unchecked_into()
}
