//! Scores passes on several threads of this process, which share the weights.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use futures::future::{FutureExt, LocalBoxFuture};
use web_time::{Duration, Instant};

use super::CandleModel;
use super::forward::Transformer;
use super::parallel::{HelperEvent, Helpers, OwnedScoreRequest};
use super::schedule::Unit;
use super::scoring::HelperJob;
use crate::lm::{Readout, ScoreRequest};

impl CandleModel {
    /// Scores passes on `n` threads, this one included.
    pub fn use_threads(&mut self, n: usize) {
        self.helpers = (n > 1).then(|| Rc::new(Threads::start(&self.transformer, n - 1)) as Rc<dyn Helpers>);
    }
}

/// Threads that help a model to score passes. They end when this is dropped.
struct Threads {
    orders: Vec<Sender<Order>>,
    /// Events, with the number of the job that they belong to.
    events: Receiver<(usize, HelperEvent)>,
    to_events: Sender<(usize, HelperEvent)>,
    /// Number of the current job. Threads stop working on earlier ones.
    job: Arc<AtomicUsize>,
    /// Helpers that have scored a pass.
    working: RefCell<BTreeSet<usize>>,
}

/// What a thread is to do.
enum Order {
    Begin(Arc<[OwnedScoreRequest]>),
    /// Passes of the job with this number.
    Score(usize, Unit),
}

impl Threads {
    /// Starts `n` threads. Threads that cannot be started are left out.
    fn start(transformer: &Arc<Transformer>, n: usize) -> Self {
        let (to_events, events) = mpsc::channel();
        let job = Arc::new(AtomicUsize::new(0));
        let start = |helper: usize| {
            let (orders, received) = mpsc::channel();
            let thread = Thread { helper, transformer: transformer.clone(), events: to_events.clone(), job: job.clone() };
            thread::Builder::new().spawn(move || thread.serve(&received)).ok().map(|_| orders)
        };
        let orders = (0..n).map_while(start).collect();
        Self { orders, events, to_events, job, working: RefCell::default() }
    }

    fn job(&self) -> usize {
        self.job.load(Ordering::Relaxed)
    }

    /// The next event of the current job, if there is any before `deadline`.
    fn next_before(&self, deadline: Instant) -> Option<HelperEvent> {
        loop {
            let (job, event) = self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()?;
            if job == self.job() {
                return Some(event);
            }
        }
    }
}

impl Helpers for Threads {
    /// The model is there already.
    fn expect(&self, _: usize) {}

    fn begin(&self, requests: &[ScoreRequest<'_>]) -> usize {
        let job = self.job.fetch_add(1, Ordering::Relaxed) + 1;
        let requests: Arc<[OwnedScoreRequest]> = requests.iter().map(OwnedScoreRequest::from).collect();
        let is_running = |orders: &Sender<Order>| orders.send(Order::Begin(requests.clone())).is_ok();
        for (helper, _) in self.orders.iter().enumerate().filter(|(_, orders)| is_running(orders)) {
            // It may get passes at once, and reads the base text while this thread does.
            self.to_events.send((job, HelperEvent::Ready { helper })).ok();
        }
        self.orders.len()
    }

    fn assign(&self, helper: usize, unit: &Unit) {
        // If the thread has ended, the passes are taken away from it as from a slow one.
        self.orders[helper].send(Order::Score(self.job(), unit.clone())).ok();
    }

    fn events(&self, patience: Duration) -> LocalBoxFuture<'_, Vec<HelperEvent>> {
        let first = self.next_before(Instant::now() + patience);
        let others = self.events.try_iter().filter(|(job, _)| *job == self.job()).map(|(_, event)| event);
        let events: Vec<HelperEvent> = first.into_iter().chain(others).collect();
        let scored = events.iter().filter_map(|event| if let HelperEvent::Scored { helper, .. } = event { Some(*helper) } else { None });
        self.working.borrow_mut().extend(scored);
        std::future::ready(events).boxed_local()
    }

    fn end(&self) {
        self.job.fetch_add(1, Ordering::Relaxed);
    }

    fn n_working(&self) -> usize {
        self.working.borrow().len()
    }

    fn heap_bytes(&self) -> u64 {
        0
    }
}

/// One helper.
struct Thread {
    helper: usize,
    transformer: Arc<Transformer>,
    events: Sender<(usize, HelperEvent)>,
    job: Arc<AtomicUsize>,
}

impl Thread {
    /// Carries out orders until no more can come.
    fn serve(self, orders: &Receiver<Order>) {
        let mut model = CandleModel::new(self.transformer.clone(), 0);
        let mut helper_job = HelperJob::default();
        for order in orders {
            match order {
                Order::Begin(requests) => model.begin_help(&mut helper_job, requests.to_vec()),
                Order::Score(job, unit) if self.is_current(job) => self.score(&mut model, &mut helper_job, job, &unit),
                Order::Score(..) => {}
            }
        }
    }

    fn score(&self, model: &mut CandleModel, helper_job: &mut HelperJob, job: usize, unit: &Unit) {
        let (helper, request) = (self.helper, unit.request);
        let mut on_scored = async |(pass, readout): (usize, Readout)| {
            let is_received = self.events.send((job, HelperEvent::Scored { helper, request, pass, readout })).is_ok();
            if is_received && self.is_current(job) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let scored = model.help(helper_job, unit, &mut on_scored).now_or_never();
        if !matches!(scored, Some(Ok(()))) {
            self.events.send((job, HelperEvent::Lost { helper })).ok();
        }
    }

    fn is_current(&self, job: usize) -> bool {
        self.job.load(Ordering::Relaxed) == job
    }
}
