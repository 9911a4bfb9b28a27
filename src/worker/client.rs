//! The page's end of the engine: a worker that is started when it is first needed, and again after it broke down.

use std::cell::RefCell;
use std::rc::Rc;

use gloo::timers::future::TimeoutFuture;
use js_sys::Array;
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{Closure, JsValue};
use web_sys::{ErrorEvent, File, MessageEvent, Worker};

pub use super::protocol::{Event, ModelSource, Request};
use crate::problem::Problem;
pub use crate::request::{BackendChoice, DeletionCurves as Checked, LoadedModel as Ready, Question, Word, WorkStats as Work};
pub use crate::version::GLASSCAGE;

/// Trunk's shim around the worker's wasm, beside the page.
const SCRIPT: &str = "./engine_loader.js";
/// How long a worker's code may take to arrive.
const START_MILLIS: u32 = 90_000;
/// What the worker says, once, when it listens. Messages posted earlier could get lost.
const LISTENING: &str = "ready";

/// What reaches the page: an event, or why the worker is gone, and the model in it. The next request starts a new one.
pub type Message = Result<Event, Problem>;

/// A handle to the engine; clones speak to the same worker.
#[derive(Clone)]
pub struct Client {
    state: Rc<RefCell<State>>,
    deliver: Rc<dyn Fn(Message)>,
}

#[derive(Default)]
struct State {
    worker: Option<Worker>,
    is_listening: bool,
    /// Requests made before the worker listens.
    waiting: Vec<JsValue>,
    /// Kept while the worker lives, which calls them.
    _handlers: Option<Handlers>,
}

struct Handlers {
    message: Closure<dyn FnMut(MessageEvent)>,
    error: Closure<dyn FnMut(ErrorEvent)>,
}

impl Client {
    /// A client that hands everything the worker says to `deliver`. No worker is started yet.
    pub fn new(deliver: impl Fn(Message) + 'static) -> Self {
        Self { state: Rc::default(), deliver: Rc::new(deliver) }
    }

    /// Sends a request, and with it the local files that it is about.
    pub fn send(&self, request: &Request, files: &[File]) {
        match self.try_send(request, files) {
            Ok(()) => {}
            Err(_) => self.lose("The engine could not be started", "Reload the page, or use a browser with web workers and WebAssembly"),
        }
    }

    /// Ends the worker, whatever it is doing; the next request starts a new one.
    pub fn terminate(&self) {
        self.take_worker();
    }

    fn try_send(&self, request: &Request, files: &[File]) -> Result<(), JsValue> {
        let request = request.serialize(&Serializer::json_compatible())?;
        let message = JsValue::from(Array::of2(&request, &files.iter().collect::<Array>()));
        let worker = self.worker()?;
        let mut state = self.state.borrow_mut();
        if state.is_listening {
            return worker.post_message(&message);
        }
        state.waiting.push(message);
        Ok(())
    }

    /// The living worker, or a new one.
    fn worker(&self) -> Result<Worker, JsValue> {
        if let Some(worker) = &self.state.borrow().worker {
            return Ok(worker.clone());
        }
        let worker = Worker::new(SCRIPT)?;
        let handlers = self.handlers();
        worker.set_onmessage(Some(handlers.message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(handlers.error.as_ref().unchecked_ref()));
        *self.state.borrow_mut() =
            State { worker: Some(worker.clone()), is_listening: false, waiting: Vec::new(), _handlers: Some(handlers) };
        self.watch_start(worker.clone());
        Ok(worker)
    }

    /// A worker whose code does not arrive says nothing at all.
    fn watch_start(&self, worker: Worker) {
        let client = self.clone();
        wasm_bindgen_futures::spawn_local(async move {
            TimeoutFuture::new(START_MILLIS).await;
            let is_silent = {
                let state = client.state.borrow();
                state.worker.as_ref() == Some(&worker) && !state.is_listening
            };
            if is_silent {
                client.lose("The engine did not arrive", "Check the connection, then press Explain again");
            }
        });
    }

    fn handlers(&self) -> Handlers {
        let (on_message, on_error) = (self.clone(), self.clone());
        Handlers {
            message: Closure::new(move |event: MessageEvent| on_message.receive(event.data())),
            error: Closure::new(move |_: ErrorEvent| on_error.lose("The engine stopped", "Press Explain to start it again")),
        }
    }

    fn receive(&self, data: JsValue) {
        if data.as_string().as_deref() == Some(LISTENING) {
            return self.release_waiting();
        }
        match serde_wasm_bindgen::from_value(data) {
            Ok(event) => (self.deliver)(Ok(event)),
            Err(_) => {
                self.lose("The engine said something that this page does not understand", "Reload the page to get both in the same version")
            }
        }
    }

    fn release_waiting(&self) {
        let mut state = self.state.borrow_mut();
        state.is_listening = true;
        let waiting = std::mem::take(&mut state.waiting);
        if let Some(worker) = &state.worker {
            // A request that cannot be posted shows as a worker that never answers; none of ours can fail to clone.
            waiting.iter().for_each(|message| drop(worker.post_message(message)));
        }
    }

    fn lose(&self, what: &str, remedy: &str) {
        self.take_worker();
        (self.deliver)(Err(Problem::new(what, remedy)));
    }

    fn take_worker(&self) {
        let lost = std::mem::take(&mut *self.state.borrow_mut());
        if let Some(worker) = &lost.worker {
            worker.set_onmessage(None);
            worker.set_onerror(None);
            worker.terminate();
        }
        // The handler that is running now may belong to `lost`: it may be dropped only after it returns.
        wasm_bindgen_futures::spawn_local(async move { drop(lost) });
    }
}
