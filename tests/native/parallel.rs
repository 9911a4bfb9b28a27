//! Helpers affect only the time.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use futures::future::{FutureExt, LocalBoxFuture};
use glasscage::cpu::{CandleModel, HelperEvent, HelperJob, Helpers, OwnedScoreRequest, Unit};
use glasscage::lm::{Edit, LanguageModel, LmError, Pass, Readout, ScoreRequest};

use super::pace::on_cpu;
use super::readouts::readouts;

/// When the engine's own worker asks for events, a helper scores one pass.
struct Pool {
    helpers: RefCell<Vec<Helper>>,
    /// Each helper dies after this many passes.
    most: usize,
    /// Changes each readout during the transfer.
    on_the_way: fn(&mut Readout),
    n_scored: Rc<Cell<usize>>,
}

struct Helper {
    model: CandleModel,
    job: HelperJob,
    given: VecDeque<Unit>,
    n_scored: usize,
    is_new: bool,
}

impl Pool {
    async fn new(n_helpers: usize, most: usize, on_the_way: fn(&mut Readout), n_scored: Rc<Cell<usize>>) -> Rc<Self> {
        let mut helpers = Vec::new();
        for _ in 0..n_helpers {
            helpers.push(Helper { model: on_cpu().await, job: HelperJob::default(), given: VecDeque::new(), n_scored: 0, is_new: true });
        }
        Rc::new(Self { helpers: RefCell::new(helpers), most, on_the_way, n_scored })
    }

    /// What a helper does next.
    fn events_of(&self, number: usize, helper: &mut Helper) -> Option<HelperEvent> {
        if std::mem::take(&mut helper.is_new) {
            return Some(HelperEvent::Ready { helper: number });
        }
        let unit = helper.given.front_mut()?;
        if helper.n_scored == self.most {
            helper.given.clear();
            return Some(HelperEvent::Lost { helper: number });
        }
        let (request, mut scored) = (unit.request, None);
        let mut on_scored = async |(pass, readout): (usize, Readout)| {
            scored = Some((pass, readout));
            ControlFlow::Break(())
        };
        helper.model.help(&mut helper.job, unit, &mut on_scored).now_or_never().expect("it waits for nothing").expect("it scores");
        let (pass, mut readout) = scored.expect("a unit is not empty");
        unit.passes.start += 1;
        if unit.passes.is_empty() {
            helper.given.pop_front();
        }
        helper.n_scored += 1;
        self.n_scored.set(self.n_scored.get() + 1);
        (self.on_the_way)(&mut readout);
        Some(HelperEvent::Scored { helper: number, request, pass, readout })
    }
}

impl Helpers for Pool {
    fn expect(&self, _: usize) {}

    fn begin(&self, requests: &[ScoreRequest<'_>]) -> usize {
        let owned: Vec<OwnedScoreRequest> = requests.iter().map(OwnedScoreRequest::from).collect();
        let mut helpers = self.helpers.borrow_mut();
        for helper in helpers.iter_mut() {
            let arrived = OwnedScoreRequest::from_numbers(&OwnedScoreRequest::to_numbers(&owned)).expect("requests");
            helper.model.begin_help(&mut helper.job, arrived);
            helper.is_new = true;
        }
        helpers.len()
    }

    fn assign(&self, helper: usize, unit: &Unit) {
        self.helpers.borrow_mut()[helper].given.push_back(unit.clone());
    }

    fn events(&self, _: Duration) -> LocalBoxFuture<'_, Vec<HelperEvent>> {
        let mut helpers = self.helpers.borrow_mut();
        let events = helpers.iter_mut().enumerate().filter_map(|(number, helper)| self.events_of(number, helper)).collect();
        std::future::ready(events).boxed_local()
    }

    fn end(&self) {
        self.helpers.borrow_mut().iter_mut().for_each(|helper| helper.given.clear());
    }

    fn n_working(&self) -> usize {
        self.helpers.borrow().iter().filter(|helper| helper.n_scored > 0).count()
    }

    fn heap_bytes(&self) -> u64 {
        0
    }
}

/// Readouts of a text with seven passes, one of which changes nothing, and the work.
async fn scored(model: &mut CandleModel, divergences: bool) -> (Result<Vec<Readout>, LmError>, [usize; 2]) {
    let tokens: Vec<u32> = (0..60).map(|i| 3 + (i * 37) % 500).collect();
    let passes: Vec<Pass> = [8, 14, 20, 29, 40, 47, 59].map(|start| Pass { edits: vec![Edit::new(start, &[1])] }).into();
    let edits = [Edit::new(2, &[1; 4])];
    let request = ScoreRequest { edits: &edits, divergences, attended: &[2..6, 6..12], ..ScoreRequest::new(&tokens, 30..60, &passes) };
    let before = model.counters();
    let readouts = readouts(model, &request).await;
    let after = model.counters();
    (readouts, [after.forward_tokens - before.forward_tokens, after.head_positions - before.head_positions])
}

#[tokio::test]
async fn helpers_do_not_change_bits_or_work() {
    for divergences in [false, true] {
        let (alone, work) = scored(&mut on_cpu().await, divergences).await;
        let alone = alone.expect("it scores");
        for (n_helpers, most) in [(1, usize::MAX), (1, 0), (1, 1), (1, 2), (2, usize::MAX), (3, usize::MAX), (3, 1)] {
            let n_scored = Rc::new(Cell::new(0));
            let mut model = on_cpu().await;
            model.share_passes(Pool::new(n_helpers, most, |_| {}, n_scored.clone()).await);
            let (together, work_together) = scored(&mut model, divergences).await;
            assert_eq!((together.expect("it scores"), work_together), (alone.clone(), work), "{n_helpers} helpers of {most} passes");
            assert!(n_scored.get() >= most.min(n_helpers), "{n_helpers} helpers scored {} passes", n_scored.get());
        }
    }
}

/// Readouts of all pairs of six sentences, as `attribution::pairs` requests them.
async fn pairs(model: &mut CandleModel) -> Vec<(usize, usize, Readout)> {
    let tokens: Vec<u32> = (0..60).map(|i| 3 + (i * 37) % 500).collect();
    let pass = |k: usize| Pass { edits: vec![Edit::new(8 * k, &[1; 8])] };
    let alone: Vec<Pass> = (0..6).map(pass).collect();
    let singles = readouts(model, &ScoreRequest::new(&tokens, 40..60, &alone)).await.expect("it scores");
    let edits: Vec<Edit> = (0..5).map(|j| Edit::new(8 * j, &[1; 8])).collect();
    let others: Vec<Vec<Pass>> = (0..5).map(|j| (j + 1..6).map(pass).collect()).collect();
    let requests: Vec<ScoreRequest<'_>> = (0..5)
        .map(|j| ScoreRequest {
            edits: std::slice::from_ref(&edits[j]),
            base_log_probs: Some(&singles[j + 1].log_probs),
            ..ScoreRequest::new(&tokens, 40..60, &others[j])
        })
        .collect();
    let mut all: Vec<_> = singles.iter().cloned().enumerate().map(|(number, readout)| (0, number, readout)).collect();
    let score = model.score_all(&requests, async |request, number, readout| {
        all.push((request + 1, number, readout.clone()));
        ControlFlow::Continue(())
    });
    score.await.expect("it scores");
    all
}

#[tokio::test]
async fn pairs_have_same_bits_with_any_number_of_helpers() {
    let alone = pairs(&mut on_cpu().await).await;
    assert_eq!(alone.len(), 7 + (6 + 5 + 4 + 3 + 2), "base texts and passes");
    for (n_helpers, most) in [(1, usize::MAX), (1, 5), (1, 8), (3, usize::MAX), (3, 2)] {
        let n_scored = Rc::new(Cell::new(0));
        let mut model = on_cpu().await;
        model.share_passes(Pool::new(n_helpers, most, |_| {}, n_scored.clone()).await);
        assert!(pairs(&mut model).await == alone, "{n_helpers} helpers of {most} passes");
        assert!(n_scored.get() >= 3, "{n_helpers} helpers scored {} passes", n_scored.get());
    }
}

/// Ends after the base text and a pass of seven.
async fn break_off(model: &mut CandleModel) {
    let tokens: Vec<u32> = (0..60).map(|i| 3 + (i * 37) % 500).collect();
    let passes: Vec<Pass> = (0..7).map(|k| Pass { edits: vec![Edit::new(8 * k, &[1])] }).collect();
    let mut n_reported = 0;
    let on_readout = async |_: usize, _: &Readout| {
        n_reported += 1;
        if n_reported == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    model.score(&ScoreRequest::new(&tokens, 40..60, &passes), on_readout).await.expect("it scores");
}

#[tokio::test]
async fn threads_do_not_change_bits_or_work() {
    let (alone, alone_in_pairs) = (scored(&mut on_cpu().await, true).await, pairs(&mut on_cpu().await).await);
    let alone = (alone.0.expect("it scores"), alone.1);
    for n in [2, 4] {
        let mut model = on_cpu().await;
        model.use_threads(n);
        // Until each thread was fast enough to score a pass before the others had scored all of them.
        while model.helpers().expect("threads").n_working() < n - 1 {
            let (readouts, work) = scored(&mut model, true).await;
            assert_eq!((readouts.expect("it scores"), work), alone, "{n} threads");
            break_off(&mut model).await;
            assert!(pairs(&mut model).await == alone_in_pairs, "{n} threads");
        }
    }
    let mut model = on_cpu().await;
    model.use_threads(1);
    assert!(model.helpers().is_none());
}

#[tokio::test]
async fn readouts_of_helpers_are_checked() {
    let (alone, _) = scored(&mut on_cpu().await, false).await;
    for (on_the_way, is_refused) in [
        ((|readout| readout.log_probs.truncate(3)) as fn(&mut Readout), false),
        (|readout| readout.log_probs.iter_mut().for_each(|log_prob| *log_prob = f64::NAN), true),
    ] {
        let mut model = on_cpu().await;
        model.share_passes(Pool::new(1, 3, on_the_way, Rc::default()).await);
        match scored(&mut model, false).await.0 {
            Ok(readouts) => assert!(!is_refused && readouts == *alone.as_ref().expect("it scores"), "computed here instead"),
            Err(error) => assert!(is_refused && matches!(error, LmError::NotFinite), "{error}"),
        }
    }
}

/// A helper that gets passes and never answers.
struct Silent(Cell<bool>);

impl Helpers for Silent {
    fn expect(&self, _: usize) {}
    fn begin(&self, _: &[ScoreRequest<'_>]) -> usize {
        1
    }
    fn assign(&self, _: usize, _: &Unit) {
        self.0.set(true);
    }
    fn events(&self, _: Duration) -> LocalBoxFuture<'_, Vec<HelperEvent>> {
        let events = if self.0.get() { Vec::new() } else { vec![HelperEvent::Ready { helper: 0 }] };
        std::future::ready(events).boxed_local()
    }
    fn end(&self) {}
    fn n_working(&self) -> usize {
        0
    }
    fn heap_bytes(&self) -> u64 {
        0
    }
}

#[tokio::test]
async fn stop_takes_effect_while_helpers_hold_back_readouts() {
    let mut model = on_cpu().await;
    let alone = scored(&mut on_cpu().await, false).await.0.expect("it scores");
    model.share_passes(Rc::new(Silent(Cell::new(false))));
    assert_eq!(scored(&mut model, false).await.0.expect("it scores"), alone, "its passes are taken back");
    let left = Rc::new(Cell::new(3_usize));
    model.share_passes(Rc::new(Silent(Cell::new(false))));
    let before = model.counters().forward_tokens;
    model.stop_when(Rc::new(move || left.replace(left.get().saturating_sub(1)) == 0));
    assert!(matches!(scored(&mut model, false).await.0, Err(LmError::Stopped)));
    assert!(model.counters().forward_tokens < before + 59 + 3 * 51, "after the base text and three passes");
}
