//! A second scorer affects only the time.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use futures::future::{FutureExt, LocalBoxFuture};
use glasscage::cpu::{CandleModel, OwnedScoreRequest, SecondScorer};
use glasscage::lm::{Edit, LanguageModel, LmError, Pass, Readout, ScoreRequest};

use super::pace::on_cpu;
use super::readouts::readouts;

/// A scorer that scores at most `most` passes immediately, without messages in between.
struct Second {
    model: RefCell<CandleModel>,
    most: usize,
    scored: RefCell<HashMap<usize, Readout>>,
    /// Changes each readout during the transfer.
    on_the_way: fn(&mut Readout),
    n_taken: Rc<Cell<usize>>,
}

impl SecondScorer for Second {
    fn begin(&self, request: &ScoreRequest<'_>) {
        let arrived = OwnedScoreRequest::from_numbers(&OwnedScoreRequest::from(request).to_numbers()).expect("a request");
        let mut scored = HashMap::new();
        let mut on_scored = async |(number, mut readout): (usize, Readout)| {
            (self.on_the_way)(&mut readout);
            scored.insert(number, readout);
            if scored.len() < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let mut model = self.model.borrow_mut();
        model.score_from_last(&arrived.borrowed(), &mut on_scored).now_or_never().expect("it waits for nothing").expect("it scores");
        *self.scored.borrow_mut() = scored;
    }

    fn take(&self, pass: usize, _: Duration) -> LocalBoxFuture<'_, Option<Readout>> {
        let readout = self.scored.borrow_mut().remove(&pass);
        self.n_taken.set(self.n_taken.get() + usize::from(readout.is_some()));
        std::future::ready(readout).boxed_local()
    }

    fn end(&self) {
        self.scored.borrow_mut().clear();
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
async fn split_between_scorers_does_not_change_bits_or_work() {
    for divergences in [false, true] {
        let (alone, work) = scored(&mut on_cpu().await, divergences).await;
        let alone = alone.expect("it scores");
        for most in 1..=7 {
            let n_taken = Rc::new(Cell::new(0));
            let mut model = on_cpu().await;
            let second = Second {
                model: RefCell::new(on_cpu().await),
                most,
                scored: RefCell::default(),
                on_the_way: |_| {},
                n_taken: n_taken.clone(),
            };
            model.share_passes(Box::new(second));
            let (together, work_together) = scored(&mut model, divergences).await;
            assert_eq!(
                (together.expect("it scores"), work_together, n_taken.get()),
                (alone.clone(), work, most),
                "{most} passes elsewhere"
            );
        }
    }
}

#[tokio::test]
async fn readouts_of_second_scorer_are_checked() {
    let (alone, _) = scored(&mut on_cpu().await, false).await;
    for (on_the_way, is_refused) in [
        ((|readout| readout.log_probs.truncate(3)) as fn(&mut Readout), false),
        (|readout| readout.log_probs.iter_mut().for_each(|log_prob| *log_prob = f64::NAN), true),
    ] {
        let mut model = on_cpu().await;
        let n_taken = Rc::default();
        model.share_passes(Box::new(Second {
            model: RefCell::new(on_cpu().await),
            most: 3,
            scored: RefCell::default(),
            on_the_way,
            n_taken,
        }));
        match scored(&mut model, false).await.0 {
            Ok(readouts) => assert!(!is_refused && readouts == *alone.as_ref().expect("it scores"), "computed here instead"),
            Err(error) => assert!(is_refused && matches!(error, LmError::NotFinite), "{error}"),
        }
    }
}
