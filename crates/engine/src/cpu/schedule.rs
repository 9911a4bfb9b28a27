//! Decides which worker scores which passes, and keeps the readouts in order. Knows neither models nor messages.
//!
//! Work is handed out from the first pass on. A worker gets its next unit when it has at most one pass left, so it never waits for one.
//! Readouts may arrive in any order, and are reported in the order of their passes. The passes of a lost worker go back to the front of
//! the queue.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::lm::{Pass, Readout, ScoreRequest};

/// Passes of one request that one worker scores, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Index of the request.
    pub request: usize,
    /// Not empty.
    pub passes: Range<usize>,
}

/// The state of a job: which passes wait, which are being scored, and which readouts were not reported yet.
pub struct Schedule {
    waiting: VecDeque<Unit>,
    /// For each worker, the passes that it was given and has not scored yet.
    given: Vec<VecDeque<Unit>>,
    /// Readouts that were not reported yet, by request and pass.
    scored: BTreeMap<(usize, usize), Readout>,
    /// Number of passes of each request.
    n_passes: Vec<usize>,
    /// Request and number of the readout to report next. Number 0 is the base text, number `i + 1` is pass `i`.
    next: (usize, usize),
}

impl Schedule {
    pub fn new(requests: &[ScoreRequest<'_>], n_workers: usize) -> Self {
        Self {
            waiting: units(requests, n_workers).into(),
            given: vec![VecDeque::new(); n_workers],
            scored: BTreeMap::new(),
            n_passes: requests.iter().map(|request| request.passes.len()).collect(),
            next: (0, 0),
        }
    }

    /// The next unit for a worker, if it has at most one pass left and a unit waits.
    pub fn assign(&mut self, worker: usize) -> Option<Unit> {
        if self.given[worker].iter().map(|unit| unit.passes.len()).sum::<usize>() > 1 {
            return None;
        }
        while let Some(mut unit) = self.waiting.pop_front() {
            while !unit.passes.is_empty() && self.is_scored(unit.request, unit.passes.start) {
                unit.passes.start += 1;
            }
            if !unit.passes.is_empty() {
                self.given[worker].push_back(unit.clone());
                return Some(unit);
            }
        }
        None
    }

    /// Request and index of the pass that a worker scores now.
    pub fn current(&self, worker: usize) -> Option<(usize, usize)> {
        self.given[worker].front().map(|unit| (unit.request, unit.passes.start))
    }

    /// Takes the readout of a pass, starting at the first target that it changes.
    pub fn take(&mut self, request: usize, pass: usize, readout: Readout) {
        for units in &mut self.given {
            if let Some(unit) = units.front_mut().filter(|unit| (unit.request, unit.passes.start) == (request, pass)) {
                unit.passes.start += 1;
                if unit.passes.is_empty() {
                    units.pop_front();
                }
            }
        }
        if !self.is_scored(request, pass) {
            self.scored.insert((request, pass), readout);
        }
    }

    pub fn is_scored(&self, request: usize, pass: usize) -> bool {
        (request, pass + 1) < self.next || self.scored.contains_key(&(request, pass))
    }

    /// Puts all passes that a worker has not scored yet back into the queue.
    pub fn unassign(&mut self, worker: usize) {
        while let Some(unit) = self.given[worker].pop_back() {
            self.waiting.push_front(unit);
        }
    }

    /// Request and number of the readout to report next. `None` at the end.
    pub fn next(&self) -> Option<(usize, usize)> {
        (self.next.0 < self.n_passes.len()).then_some(self.next)
    }

    /// The readout of the pass to report next, if it is scored.
    pub fn next_pass(&mut self) -> Option<Readout> {
        let (request, number) = self.next;
        self.scored.remove(&(request, number.checked_sub(1)?))
    }

    /// Continues with the readout after [`Self::next`].
    pub fn advance(&mut self) {
        let (request, number) = self.next;
        self.next = if number < self.n_passes[request] { (request, number + 1) } else { (request + 1, 0) };
    }
}

/// Number of tokens that a request reads if one worker scores it. Counts the part of its base text that no other request shares.
pub fn tokens(request: &ScoreRequest<'_>) -> usize {
    base_tokens(request) + request.passes.iter().map(|pass| pass_tokens(request, pass)).sum::<usize>()
}

fn base_tokens(request: &ScoreRequest<'_>) -> usize {
    let is_shared = request.known_base().is_some();
    let shared = request.edits.first().filter(|_| is_shared).map_or(0, |edit| edit.start);
    request.base_length().saturating_sub(shared)
}

fn pass_tokens(request: &ScoreRequest<'_>, pass: &Pass) -> usize {
    (request.targets.end - 1).saturating_sub(pass.start())
}

/// Splits requests into units. The passes of a single request are separate units, because every worker keeps its base text. Among several
/// requests, a unit is a whole request, because each worker that takes a part reads its base text. Only a request with more than a fair
/// share of the work is split.
fn units(requests: &[ScoreRequest<'_>], n_workers: usize) -> Vec<Unit> {
    let share = (requests.iter().map(tokens).sum::<usize>() / n_workers).max(1);
    let parts = |(number, request): (usize, &ScoreRequest<'_>)| {
        let lengths: Vec<usize> = request.passes.iter().map(|pass| pass_tokens(request, pass)).collect();
        let n_parts = if requests.len() == 1 { lengths.len() } else { lengths.iter().sum::<usize>().div_ceil(share) };
        split(&lengths, n_parts).into_iter().map(move |passes| Unit { request: number, passes })
    };
    requests.iter().enumerate().flat_map(parts).collect()
}

/// Splits passes into at most `n_parts` ranges of about equal length. No range is empty.
fn split(lengths: &[usize], n_parts: usize) -> Vec<Range<usize>> {
    if n_parts >= lengths.len() {
        return (0..lengths.len()).map(|i| i..i + 1).collect();
    }
    let total: usize = lengths.iter().sum();
    let (mut parts, mut start, mut sum) = (Vec::new(), 0, 0);
    for (i, length) in lengths.iter().enumerate() {
        // More than half of this pass is beyond the end of the part.
        let is_beyond = (2 * sum + length) * n_parts.max(1) > 2 * total * (parts.len() + 1);
        if i > start && is_beyond && parts.len() + 1 < n_parts {
            parts.push(start..i);
            start = i;
        }
        sum += length;
    }
    parts.push(start..lengths.len());
    parts
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::lm::Edit;
    use glasscage_core::rng::Rng;
    use glasscage_model::tokenizer::TokenId;
    use proptest::prelude::*;

    /// A readout that names its pass.
    fn readout(request: usize, pass: usize) -> Readout {
        Readout { log_probs: vec![request as f64, pass as f64], ..Readout::default() }
    }

    fn passes_at(starts: impl IntoIterator<Item = usize>) -> Vec<Pass> {
        starts.into_iter().map(|start| Pass { edits: vec![Edit::new(start, &[0])] }).collect()
    }

    /// A helper: the passes that it was given, and the readouts that it has sent.
    #[derive(Clone, Default)]
    struct Helper {
        given: VecDeque<(usize, usize)>,
        sent: VecDeque<(usize, usize)>,
        is_dead: bool,
    }

    /// Runs a job with helpers that score, answer and die at random times. Returns the reported readouts in their order.
    fn reported(n_passes: &[usize], n_helpers: usize, rng: &mut Rng) -> Vec<(usize, usize, Option<Readout>)> {
        let passes: Vec<Vec<Pass>> = n_passes.iter().map(|&n| passes_at(0..n)).collect();
        let requests: Vec<ScoreRequest<'_>> = passes.iter().map(|passes| ScoreRequest::new(&[1; 50], 40..50, passes)).collect();
        let (mut schedule, mut helpers, mut reported) =
            (Schedule::new(&requests, 1 + n_helpers), vec![Helper::default(); n_helpers], Vec::new());
        let mut draw = |n: usize| (rng.next_u64() % n as u64) as usize;
        loop {
            while let Some((request, number)) = schedule.next() {
                let readout = schedule.next_pass();
                if number > 0 && readout.is_none() {
                    break;
                }
                schedule.advance();
                reported.push((request, number, readout));
            }
            if schedule.next().is_none() {
                return reported;
            }
            let who = draw(2 + n_helpers);
            let Some(helper) = helpers.get_mut(who) else {
                schedule.assign(0);
                if let Some((request, pass)) = schedule.current(0) {
                    schedule.take(request, pass, readout(request, pass));
                }
                continue;
            };
            match draw(12) {
                0 => {
                    // Its last messages may still arrive.
                    helper.is_dead = true;
                    schedule.unassign(1 + who);
                }
                1..=4 if !helper.is_dead => {
                    let unit = schedule.assign(1 + who);
                    helper.given.extend(unit.iter().flat_map(|unit| unit.passes.clone().map(|pass| (unit.request, pass))));
                }
                5..=8 if !helper.is_dead => helper.sent.extend(helper.given.pop_front()),
                _ => {
                    if let Some((request, pass)) = helper.sent.pop_front() {
                        schedule.take(request, pass, readout(request, pass));
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_interleaving_reports_every_readout_in_order(
            n_passes in prop::collection::vec(0_usize..6, 0..6),
            n_helpers in 0_usize..4,
            seed in any::<u64>(),
        ) {
            let of_request = |(request, &n): (usize, &usize)| {
                (0..=n).map(move |number| (request, number, number.checked_sub(1).map(|pass| readout(request, pass))))
            };
            let expected: Vec<_> = n_passes.iter().enumerate().flat_map(of_request).collect();
            prop_assert_eq!(reported(&n_passes, n_helpers, &mut Rng::new(seed)), expected);
        }

        #[test]
        fn split_keeps_order_and_number_of_parts(lengths in prop::collection::vec(0_usize..50, 1..12), n_parts in 0_usize..6) {
            let parts = split(&lengths, n_parts);
            prop_assert!(parts.len() <= n_parts.max(1));
            prop_assert!(parts.iter().all(|part| !part.is_empty()));
            prop_assert!(parts.into_iter().flatten().eq(0..lengths.len()));
        }
    }

    /// The largest number of tokens that a worker reads. All workers read equally fast, and the one that has read the least scores the next
    /// pass. The one that has read the most is lost after `lost_at` passes.
    fn longest(requests: &[ScoreRequest<'_>], n_workers: usize, lost_at: Option<usize>) -> usize {
        let mut schedule = Schedule::new(requests, n_workers);
        // Tokens read by each worker, and the request whose base text it has read last.
        let (mut read, mut open) = (vec![0; n_workers], vec![None; n_workers]);
        let mut living: Vec<usize> = (0..n_workers).collect();
        for n_scored in 0.. {
            if lost_at == Some(n_scored) {
                living.pop().into_iter().for_each(|worker| schedule.unassign(worker));
            }
            living.sort_by_key(|&worker| read[worker]);
            let mut current = |&worker: &usize| {
                schedule.assign(worker);
                schedule.current(worker).map(|(request, pass)| (worker, request, pass))
            };
            let Some((worker, request, pass)) = living.iter().find_map(&mut current) else { break };
            if open[worker].replace(request) != Some(request) {
                read[worker] += base_tokens(&requests[request]);
            }
            read[worker] += pass_tokens(&requests[request], &requests[request].passes[pass]);
            schedule.take(request, pass, readout(request, pass));
        }
        read.into_iter().max().unwrap_or(0)
    }

    /// Tokens on the longest path of an explanation by pairs: `n` sentences of `length` tokens, of which the last three are generated.
    fn tokens_of_pairs(n: usize, length: usize, n_workers: usize, lost_at: Option<usize>) -> usize {
        let tokens: Vec<TokenId> = vec![1; n * length];
        let targets = (n - 3) * length..n * length;
        let base = vec![-1.0; targets.len()];
        let alone = passes_at((0..n - 1).map(|j| j * length));
        let edits: Vec<Edit> = (0..n - 2).map(|j| Edit::new(j * length, &[0])).collect();
        let others: Vec<Vec<Pass>> = (0..n - 2).map(|j| passes_at((j + 1..n - 1).map(|k| k * length))).collect();
        let pairs: Vec<ScoreRequest<'_>> = edits
            .iter()
            .zip(&others)
            .map(|(edit, others)| ScoreRequest {
                edits: std::slice::from_ref(edit),
                base_log_probs: Some(&base),
                ..ScoreRequest::new(&tokens, targets.clone(), others)
            })
            .collect();
        longest(&[ScoreRequest::new(&tokens, targets.clone(), &alone)], n_workers, lost_at) + longest(&pairs, n_workers, lost_at)
    }

    #[test]
    fn two_workers_take_six_tenths_and_four_a_third() {
        for (n, length) in [(7, 18), (10, 13), (14, 20), (16, 40)] {
            let [one, two, four] = [1, 2, 4].map(|n_workers| tokens_of_pairs(n, length, n_workers, None) as f64);
            println!("{n} sentences of {length} tokens: {one} tokens; two workers {:.2}, four {:.2}", two / one, four / one);
            assert!(two <= 0.6 * one && four <= 0.35 * one, "{n} sentences of {length} tokens");
        }
    }

    #[test]
    fn lost_worker_costs_only_its_share() {
        let [one, two] = [1, 2].map(|n_workers| tokens_of_pairs(10, 13, n_workers, None));
        for lost_at in 0..9 {
            let with_loss = tokens_of_pairs(10, 13, 2, Some(lost_at));
            assert!((two..=one + one / 20).contains(&with_loss), "{with_loss} tokens if it is lost after {lost_at} passes");
        }
    }
}
