//! The engine's end of the workers that score passes for it.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use futures::future::{FutureExt, LocalBoxFuture};
use gloo::timers::future::TimeoutFuture;
use js_sys::{Array, Float64Array};
use wasm_bindgen::prelude::{Closure, JsCast};
use web_sys::{Blob, ErrorEvent, MessageEvent, Worker, WorkerOptions};
use web_time::{Duration, Instant};

use super::protocol::{FromScorer, ToScorer};
use crate::cpu::{self, HelperEvent, Helpers, Unit};
use crate::lm::ScoreRequest;
use crate::worker::role::{LISTENING, Role};
use crate::worker::scope;

/// Workers with the same model. They start when passes take long, and terminate when this value is dropped.
pub struct Scorers {
    files: Vec<Blob>,
    model_bytes: u64,
    n_scorers: usize,
    /// Tokens that all jobs so far have read, helpers included.
    tokens: Cell<u64>,
    state: Rc<RefCell<State>>,
    running: OnceCell<Vec<Running>>,
}

struct Running {
    worker: Worker,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
}

struct State {
    /// Number of the current job, and the message that starts or ends it.
    job: u32,
    message: Vec<f64>,
    events: Vec<HelperEvent>,
    scorers: Vec<Scorer>,
}

#[derive(Clone, Default)]
struct Scorer {
    is_loaded: bool,
    is_lost: bool,
    heap_bytes: u64,
}

impl Scorers {
    /// `n_scorers` workers for the model in these files.
    pub fn new(files: Vec<Blob>, model_bytes: u64, n_scorers: usize) -> Self {
        let state = State { job: 0, message: Vec::new(), events: Vec::new(), scorers: vec![Scorer::default(); n_scorers] };
        let (tokens, running) = (Cell::new(0), OnceCell::new());
        Self { files, model_bytes, n_scorers, tokens, state: Rc::new(RefCell::new(state)), running }
    }

    /// Starts the workers. A worker that cannot be started is lost.
    fn start(&self) -> Vec<Running> {
        let start = |helper| {
            let running = self.start_one(helper);
            if running.is_none() {
                self.state.borrow_mut().lose(helper);
            }
            running
        };
        (0..self.n_scorers).map_while(start).collect()
    }

    /// Whether all jobs so far and the expected one are worth the start of helpers.
    fn is_worth_start(&self, expected_tokens: usize) -> bool {
        cpu::is_worth_helpers(self.tokens.get().saturating_add(expected_tokens as u64), self.model_bytes)
    }

    fn start_one(&self, helper: usize) -> Option<Running> {
        let options = WorkerOptions::new();
        options.set_name(Role::Scorer.name());
        let worker = Worker::new_with_options(&scope::script(), &options).ok()?;
        let (files, its_worker, state) = (self.files.iter().collect::<Array>(), worker.clone(), self.state.clone());
        let on_message =
            Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| match message.data().dyn_into::<Float64Array>() {
                Ok(numbers) => state.borrow_mut().receive(helper, &numbers.to_vec(), &its_worker),
                // Blobs are references, so the files are not copied.
                Err(text) if text == LISTENING => drop(its_worker.post_message(&files)),
                Err(_) => {}
            });
        let state = self.state.clone();
        // A failed worker no longer helps, and is not an error of the page.
        let on_error = Closure::<dyn FnMut(ErrorEvent)>::new(move |error: ErrorEvent| {
            error.prevent_default();
            state.borrow_mut().lose(helper);
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Some(Running { worker, _on_message: on_message, _on_error: on_error })
    }

    /// Starts or ends a job. Workers that are still loading get the message later.
    fn send(&self, message: &ToScorer) {
        let mut state = self.state.borrow_mut();
        (state.job, state.message) = (message.job(), message.to_numbers());
        state.events.clear();
        for (helper, running) in self.running.get().into_iter().flatten().enumerate() {
            if state.scorers[helper].is_loaded && !state.scorers[helper].is_lost {
                post(&running.worker, &state.message);
                state.events.push(HelperEvent::Ready { helper });
            }
        }
    }
}

/// If the worker cannot be reached, it no longer helps.
fn post(worker: &Worker, numbers: &[f64]) {
    drop(worker.post_message(&Float64Array::from(numbers)));
}

impl State {
    fn receive(&mut self, helper: usize, numbers: &[f64], worker: &Worker) {
        match FromScorer::from_numbers(numbers) {
            Some(FromScorer::Loaded) => {
                self.scorers[helper].is_loaded = true;
                post(worker, &self.message);
                self.events.push(HelperEvent::Ready { helper });
            }
            Some(FromScorer::Scored { job, request, pass, heap_bytes, readout }) => {
                self.scorers[helper].heap_bytes = heap_bytes;
                if job == self.job {
                    self.events.push(HelperEvent::Scored { helper, request, pass, readout });
                }
            }
            None => {}
        }
    }

    fn lose(&mut self, helper: usize) {
        self.scorers[helper].is_lost = true;
        self.events.push(HelperEvent::Lost { helper });
    }
}

impl Helpers for Scorers {
    fn expect(&self, tokens: usize) {
        if self.is_worth_start(tokens) {
            self.running.get_or_init(|| self.start());
        }
    }

    fn begin(&self, requests: &[ScoreRequest<'_>]) -> usize {
        let tokens: usize = requests.iter().map(cpu::tokens).sum();
        self.tokens.set(self.tokens.get() + tokens as u64);
        // Helpers that are already there also help with a little work.
        if self.running.get().is_none() && !self.is_worth_start(0) {
            return 0;
        }
        let job = self.state.borrow().job + 1;
        self.send(&ToScorer::begin(job, requests));
        self.running.get_or_init(|| self.start());
        self.n_scorers
    }

    fn n_working(&self) -> usize {
        self.state.borrow().scorers.iter().filter(|scorer| scorer.heap_bytes > 0).count()
    }

    fn assign(&self, helper: usize, unit: &Unit) {
        let job = self.state.borrow().job;
        if let Some(running) = self.running.get().and_then(|running| running.get(helper)) {
            post(&running.worker, &ToScorer::Score { job, unit: unit.clone() }.to_numbers());
        }
    }

    fn events(&self, patience: Duration) -> LocalBoxFuture<'_, Vec<HelperEvent>> {
        let events = async move {
            scope::let_messages_in().await;
            let began = Instant::now();
            while self.state.borrow().events.is_empty() && began.elapsed() < patience {
                TimeoutFuture::new(1).await;
            }
            std::mem::take(&mut self.state.borrow_mut().events)
        };
        events.boxed_local()
    }

    fn end(&self) {
        let job = self.state.borrow().job + 1;
        self.send(&ToScorer::End { job });
    }

    fn heap_bytes(&self) -> u64 {
        self.state.borrow().scorers.iter().map(|scorer| scorer.heap_bytes).sum()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}
