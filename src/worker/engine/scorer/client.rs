//! The engine's end of a second worker that scores passes for it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use futures::future::{FutureExt, LocalBoxFuture};
use gloo::timers::future::TimeoutFuture;
use js_sys::{Array, Float64Array};
use wasm_bindgen::prelude::{Closure, JsCast};
use web_sys::{Blob, ErrorEvent, MessageEvent, Worker, WorkerOptions};
use web_time::{Duration, Instant};

use super::protocol::{Scored, begin_message, end_message};
use crate::cpu::SecondScorer;
use crate::lm::{Readout, ScoreRequest};
use crate::worker::role::{LISTENING, Role};
use crate::worker::scope;

/// Scoring time before a second worker is started. Until the worker has compiled and loaded the model, it only uses a core.
const WORTH_A_WORKER: Duration = Duration::from_secs(3);

/// A worker with the same model. It starts when scoring takes long, and terminates when this value is dropped.
pub struct Scorer {
    files: Vec<Blob>,
    state: Rc<RefCell<State>>,
    /// Inner `None` if the browser cannot start a worker.
    running: OnceCell<Option<Running>>,
}

struct Running {
    worker: Worker,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
}

#[derive(Default)]
struct State {
    /// Number of the current request, and the message that starts or ends it.
    request: u32,
    message: Vec<f64>,
    /// Time when the request began, and total duration of all earlier requests.
    began: Option<Instant>,
    spent: Duration,
    /// Whether the worker has received the model files, which are its first message.
    has_files: bool,
    /// Readouts of the current request that were not taken yet, and the index of the last received pass.
    scored: HashMap<usize, Readout>,
    last_scored: Option<usize>,
    heap_bytes: u64,
}

impl Scorer {
    /// A scorer for the model in these files.
    pub fn new(files: Vec<Blob>) -> Self {
        Self { files, state: Rc::default(), running: OnceCell::new() }
    }

    fn start(&self) -> Option<Running> {
        let options = WorkerOptions::new();
        options.set_name(Role::Scorer.name());
        let worker = Worker::new_with_options(&scope::script(), &options).ok()?;
        let (files, its_worker, state) = (self.files.iter().collect::<Array>(), worker.clone(), self.state.clone());
        let on_message =
            Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| match message.data().dyn_into::<Float64Array>() {
                Ok(numbers) => state.borrow_mut().take_in(&numbers.to_vec()),
                Err(text) if text == LISTENING => {
                    drop(its_worker.post_message(&files));
                    post(&its_worker, &state.borrow().message);
                    state.borrow_mut().has_files = true;
                }
                Err(_) => {}
            });
        // A failed worker no longer helps, and is not an error of the page.
        let on_error = Closure::<dyn FnMut(ErrorEvent)>::new(move |error: ErrorEvent| error.prevent_default());
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Some(Running { worker, _on_message: on_message, _on_error: on_error })
    }

    fn send(&self, message: Vec<f64>) {
        self.state.borrow_mut().message = message;
        let state = self.state.borrow();
        if let Some(Some(running)) = self.running.get().filter(|_| state.has_files) {
            post(&running.worker, &state.message);
        }
    }
}

/// If the worker cannot be reached, it no longer helps.
fn post(worker: &Worker, numbers: &[f64]) {
    drop(worker.post_message(&Float64Array::from(numbers)));
}

impl State {
    fn take_in(&mut self, numbers: &[f64]) {
        let Some(Scored { request, pass, heap_bytes, readout }) = Scored::from_numbers(numbers) else { return };
        self.heap_bytes = heap_bytes;
        if request == self.request {
            self.scored.insert(pass, readout);
            self.last_scored = Some(pass);
        }
    }

    /// Ends the current request. Returns the number of the next one.
    fn next_request(&mut self) -> u32 {
        self.spent = self.spent_until_now();
        (self.began, self.last_scored) = (None, None);
        self.scored.clear();
        self.request += 1;
        self.request
    }

    fn spent_until_now(&self) -> Duration {
        self.spent + self.began.map_or(Duration::ZERO, |began| began.elapsed())
    }
}

impl SecondScorer for Scorer {
    fn begin(&self, request: &ScoreRequest<'_>) {
        let number = self.state.borrow_mut().next_request();
        self.state.borrow_mut().began = Some(Instant::now());
        self.send(begin_message(number, request));
    }

    fn take(&self, pass: usize, patience: Duration) -> LocalBoxFuture<'_, Option<Readout>> {
        let take = async move {
            if self.running.get().is_none() {
                if self.state.borrow().spent_until_now() < WORTH_A_WORKER {
                    return None;
                }
                self.running.get_or_init(|| self.start());
            }
            scope::let_messages_in().await;
            let began = Instant::now();
            loop {
                let readout = self.state.borrow_mut().scored.remove(&pass);
                let is_being_scored = self.state.borrow().last_scored == Some(pass + 1);
                if readout.is_some() || !is_being_scored || began.elapsed() >= patience {
                    return readout;
                }
                TimeoutFuture::new(1).await;
            }
        };
        take.boxed_local()
    }

    fn end(&self) {
        let number = self.state.borrow_mut().next_request();
        self.send(end_message(number));
    }

    fn heap_bytes(&self) -> u64 {
        self.state.borrow().heap_bytes
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.terminate();
    }
}
