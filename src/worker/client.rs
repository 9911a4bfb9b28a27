//! The page's end of a worker. Starts the worker on the first request, and again after a failure.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;

use gloo::timers::future::TimeoutFuture;
use js_sys::Array;
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{Closure, JsValue};
use web_sys::{ErrorEvent, File, MessageEvent, Worker, WorkerOptions};

use super::envelope::Envelope;
use super::role::{INCOMPATIBLE, LISTENING, LOADING, Lost, Role};

/// Script next to the page that loads the workers' program.
const SCRIPT: &str = "./engine_loader.js";
/// Give up after this long without any bytes of the worker's program. The whole download may take any time.
const SILENT_MILLIS: u32 = 90_000;

/// How long events are collected before they are delivered together: one frame. A worker may send more events than a page can draw.
const FRAME_MILLIS: u32 = 16;

/// Decodes an event of a worker from JSON. `None` if it comes from another version.
pub type Decode<Event> = fn(&str) -> Option<Event>;
/// The code that decodes events, once it has arrived. `None` if it cannot be fetched.
pub type FetchedDecoder<Event> = Pin<Box<dyn Future<Output = Option<Decode<Event>>>>>;

/// A handle to a worker. Clones share the worker.
pub struct Client<Request, Event> {
    role: Role,
    state: Rc<RefCell<State<Event>>>,
    fetch_decoder: fn() -> FetchedDecoder<Event>,
    deliver: Rc<dyn Fn(Result<Event, Lost>)>,
    requests: PhantomData<fn(Request)>,
}

struct State<Event> {
    worker: Option<Worker>,
    is_listening: bool,
    /// Number of LOADING messages from the worker.
    signs_of_life: u32,
    /// Requests made before the worker listens.
    waiting: Vec<JsValue>,
    /// `None` until the code has arrived.
    decode: Option<Decode<Event>>,
    /// Events from the worker that are not delivered yet, as JSON.
    events: Vec<String>,
    /// The worker calls these, so keep them while it lives.
    _handlers: Option<Handlers>,
}

struct Handlers {
    message: Closure<dyn FnMut(MessageEvent)>,
    error: Closure<dyn FnMut(ErrorEvent)>,
}

impl<Event> Default for State<Event> {
    fn default() -> Self {
        Self { worker: None, is_listening: false, signs_of_life: 0, waiting: Vec::new(), decode: None, events: Vec::new(), _handlers: None }
    }
}

impl<Request, Event> Clone for Client<Request, Event> {
    fn clone(&self) -> Self {
        let Self { role, ref state, fetch_decoder, ref deliver, requests } = *self;
        Self { role, state: state.clone(), fetch_decoder, deliver: deliver.clone(), requests }
    }
}

impl<Request: Serialize + 'static, Event: 'static> Client<Request, Event> {
    /// A client that decodes everything from the worker and passes it to `deliver`. Does not start a worker yet, and fetches the decoder
    /// with it.
    pub fn new(role: Role, fetch_decoder: fn() -> FetchedDecoder<Event>, deliver: impl Fn(Result<Event, Lost>) + 'static) -> Self {
        Self { role, state: Rc::default(), fetch_decoder, deliver: Rc::new(deliver), requests: PhantomData }
    }

    /// Sends a request, with the local files that it needs.
    pub fn send(&self, request: &Envelope<Request>, files: &[File]) {
        if self.try_send(request, files).is_err() {
            self.lose(Lost::NotStarted);
        }
    }

    /// Terminates the worker, even during a request.
    pub fn terminate(&self) {
        let lost = std::mem::take(&mut *self.state.borrow_mut());
        if let Some(worker) = &lost.worker {
            worker.set_onmessage(None);
            worker.set_onerror(None);
            worker.terminate();
        }
        // The running handler may belong to `lost`, so drop it after the handler returns.
        wasm_bindgen_futures::spawn_local(async move { drop(lost) });
    }

    fn try_send(&self, request: &Envelope<Request>, files: &[File]) -> Result<(), JsValue> {
        // As numbers, JavaScript would lose the last digits of a large seed.
        let request = request.serialize(&Serializer::json_compatible().serialize_large_number_types_as_bigints(true))?;
        let message = JsValue::from(Array::of2(&request, &files.iter().collect::<Array>()));
        let worker = self.worker()?;
        let mut state = self.state.borrow_mut();
        if state.is_listening {
            return worker.post_message(&message);
        }
        state.waiting.push(message);
        Ok(())
    }

    /// The current worker, or a new one.
    fn worker(&self) -> Result<Worker, JsValue> {
        if let Some(worker) = &self.state.borrow().worker {
            return Ok(worker.clone());
        }
        let options = WorkerOptions::new();
        options.set_name(self.role.name());
        let worker = Worker::new_with_options(SCRIPT, &options)?;
        let handlers = self.handlers();
        worker.set_onmessage(Some(handlers.message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(handlers.error.as_ref().unchecked_ref()));
        *self.state.borrow_mut() = State { worker: Some(worker.clone()), _handlers: Some(handlers), ..State::default() };
        self.fetch_decoder(worker.clone());
        self.watch_start(worker.clone());
        Ok(worker)
    }

    /// Fetches the decoder, and delivers the events that arrived before it.
    fn fetch_decoder(&self, worker: Worker) {
        let client = self.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let decode = (client.fetch_decoder)().await;
            if client.state.borrow().worker.as_ref() != Some(&worker) {
                return;
            }
            if decode.is_none() {
                return client.lose(Lost::NotArrived);
            }
            client.state.borrow_mut().decode = decode;
            client.deliver_events();
        });
    }

    /// Reports a worker that never listens, because a worker whose code does not arrive sends nothing.
    fn watch_start(&self, worker: Worker) {
        let client = self.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let mut before = None;
            // While the worker loads and has sent a sign of life since the last check.
            while let Some(signs) = client.signs_of_life(&worker).filter(|signs| Some(*signs) != before) {
                before = Some(signs);
                TimeoutFuture::new(SILENT_MILLIS).await;
            }
            if client.signs_of_life(&worker).is_some() {
                client.lose(Lost::NotArrived);
            }
        });
    }

    /// Number of signs of life from `worker` while it loads. `None` once it listens or is gone.
    fn signs_of_life(&self, worker: &Worker) -> Option<u32> {
        let state = self.state.borrow();
        (state.worker.as_ref() == Some(worker) && !state.is_listening).then_some(state.signs_of_life)
    }

    fn handlers(&self) -> Handlers {
        let (on_message, on_error) = (self.clone(), self.clone());
        Handlers {
            message: Closure::new(move |event: MessageEvent| on_message.receive(event.data())),
            error: Closure::new(move |_: ErrorEvent| on_error.lose(on_error.lost_by_error())),
        }
    }

    /// The browser reports a script that cannot be fetched by the same event as a later failure.
    fn lost_by_error(&self) -> Lost {
        if self.state.borrow().is_listening { Lost::Stopped } else { Lost::NotArrived }
    }

    fn receive(&self, data: JsValue) {
        let message = data.as_string().unwrap_or_default();
        match &*message {
            LISTENING => self.release_waiting(),
            LOADING => self.state.borrow_mut().signs_of_life += 1,
            INCOMPATIBLE => self.lose(Lost::Incompatible),
            _ => self.gather(message),
        }
    }

    /// Stores an event until the next delivery.
    fn gather(&self, event: String) {
        let is_first = {
            let mut state = self.state.borrow_mut();
            state.events.push(event);
            state.events.len() == 1
        };
        if is_first {
            let client = self.clone();
            wasm_bindgen_futures::spawn_local(async move {
                TimeoutFuture::new(FRAME_MILLIS).await;
                client.deliver_events();
            });
        }
    }

    /// Delivers the stored events. They wait until the decoder has arrived.
    fn deliver_events(&self) {
        let (decode, events) = {
            let mut state = self.state.borrow_mut();
            let Some(decode) = state.decode else { return };
            (decode, std::mem::take(&mut state.events))
        };
        for event in events {
            match decode(&event) {
                Some(event) => (self.deliver)(Ok(event)),
                None => return self.lose(Lost::Incompatible),
            }
        }
    }

    fn release_waiting(&self) {
        let mut state = self.state.borrow_mut();
        state.is_listening = true;
        let waiting = std::mem::take(&mut state.waiting);
        if let Some(worker) = &state.worker {
            // If a request cannot be posted, the worker never answers. Our requests can always be cloned.
            waiting.iter().for_each(|message| drop(worker.post_message(message)));
        }
    }

    fn lose(&self, lost: Lost) {
        self.deliver_events();
        self.terminate();
        (self.deliver)(Err(lost));
    }
}
