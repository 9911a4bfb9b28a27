//! Tests with a simulated GPU and a simulated clock.

use super::*;
use crate::lm::blocks::blocks;

/// Number of tokens in each product, as in a variant for GPUs.
const ROWS: usize = 512;
/// Matrices of a layer of a model with a billion parameters in 16 layers, [rows, columns]: queries, keys and values; output; gate and up;
/// down.
const MATRICES: [[usize; 2]; 4] = [[3072, 2048], [2048, 2048], [16384, 2048], [2048, 8192]];
/// Seconds from the end of a submission until the caller learns of it.
const LATENCY: f64 = 1e-3;

/// Operations per second at a given time.
type Rate = fn(f64) -> f64;

/// Times in seconds when a submission was made, started and ended, and its operations.
#[derive(Clone, Copy, Debug)]
struct Played {
    submitted: f64,
    began: f64,
    ended: f64,
    operations: f64,
}

impl Played {
    fn seconds(&self) -> f64 {
        self.ended - self.began
    }
}

/// Simulates layers, one after another, for `seconds` seconds.
fn play(rate: Rate, seconds: f64) -> Vec<Played> {
    let mut pacing = Pacing::new(None);
    let mut played: Vec<Played> = Vec::new();
    let (mut now, mut so_far, mut n_done) = (0.0, 0.0, 0);
    while now < seconds {
        for [rows, columns] in MATRICES {
            let per_row = (2 * ROWS * columns) as f64;
            for block in blocks(0..rows, rows_per_dispatch(pacing.max_dispatch(), per_row, 64)) {
                let operations = per_row * block.len() as f64;
                if !pacing.has_room(so_far, operations) {
                    if pacing.is_busy() {
                        now = f64::max(now, played[n_done].ended + LATENCY);
                        pacing.done(now, 1);
                        n_done += 1;
                    }
                    pacing.submitted(now, so_far, ());
                    played.push(run(rate, now, played.last().map_or(0.0, |last| last.ended), so_far));
                    assert!(played.iter().filter(|submission| submission.ended > now).count() <= 2, "at most two are in flight");
                    so_far = 0.0;
                }
                so_far += operations;
            }
        }
    }
    played
}

/// Simulates a submission on a GPU that is free from time `free` on.
fn run(rate: Rate, submitted: f64, free: f64, operations: f64) -> Played {
    const TICK: f64 = 1e-4;
    let began = submitted.max(free);
    let (mut ended, mut left) = (began, operations);
    while left > rate(ended) * TICK {
        left -= rate(ended) * TICK;
        ended += TICK;
    }
    Played { submitted, began, ended: ended + left / rate(ended), operations }
}

/// Longest time from Stop until the GPU is free: the submissions in flight must end.
fn longest_stop(played: &[Played]) -> f64 {
    played.iter().map(|submission| submission.ended - submission.submitted).fold(0.0, f64::max)
}

/// Submissions made after `since`, when the GPU is at its pace.
fn at_pace(played: &[Played], since: f64) -> impl Iterator<Item = &Played> {
    played.iter().filter(move |submission| submission.submitted > since)
}

#[test]
fn submissions_take_50_ms_and_stop_acts_quickly() {
    let rates: [Rate; 3] = [|_| 15e9, |_| 1e12, |_| 50e12];
    for rate in rates {
        let played = play(rate, 5.0);
        assert!(played[0].seconds() < 0.02, "the first one is small: {:?}", played[0]);
        assert!(longest_stop(&played) < 0.2, "{}", longest_stop(&played));
        // Skip the first doublings.
        let seconds: Vec<f64> = at_pace(&played, 0.5).map(Played::seconds).collect();
        assert!(seconds.iter().all(|seconds| (0.015..0.08).contains(seconds)), "{} {seconds:?}", rate(0.0));
        let (first, last) = (at_pace(&played, 0.5).next().unwrap(), played.last().unwrap());
        let work: f64 = at_pace(&played, 0.5).map(|submission| submission.operations).sum();
        assert!(work > 0.99 * rate(0.0) * (last.ended - first.began), "a GPU of {} does not wait", rate(0.0));
        let start: f64 = played.iter().filter(|submission| submission.ended < 0.5).map(|submission| submission.operations).sum();
        assert!(start > 0.6 * 0.5 * rate(0.0), "{start} operations in the first half second of {}", rate(0.0));
    }
}

#[test]
fn slower_gpu_gets_less_work() {
    let played = play(|now| if now < 2.0 { 400e9 } else { 80e9 }, 4.0);
    // Submissions in flight at that moment take five times as long.
    assert!(longest_stop(&played) < 0.55, "{}", longest_stop(&played));
    assert!(at_pace(&played, 2.6).all(|submission| (0.02..0.08).contains(&submission.seconds())));
}

#[test]
fn stalled_gpu_recovers_pace() {
    let played = play(|now| if (2.0..3.0).contains(&now) { 1.0 } else { 1e12 }, 5.0);
    assert!(at_pace(&played, 3.3).all(|submission| (0.02..0.08).contains(&submission.seconds())));
    assert!(longest_stop(&played) < 1.2, "no more than the stall and those in flight: {}", longest_stop(&played));
}

#[test]
fn grouped_submissions_count_as_mean() {
    let mut pacing = Pacing::new(None);
    pacing.submitted(1.0, FIRST, ());
    pacing.submitted(1.0, FIRST, ());
    pacing.done(1.5, usize::MAX);
    assert_eq!((pacing.operations, pacing.is_busy()), (FIRST / 5.0, false));
    pacing.done(9.0, usize::MAX);
    assert_eq!(pacing.operations, FIRST / 5.0);
}

#[test]
fn small_submission_counts_only_if_slow() {
    let mut pacing = Pacing::new(None);
    let mut after = |operations: f64, seconds: f64| {
        pacing.submitted(pacing.ended, operations, ());
        pacing.done(pacing.ended + seconds, 1);
        pacing.operations / FIRST
    };
    assert_eq!(after(FIRST / 4.0, 0.001), 1.0);
    assert_eq!(after(FIRST / 4.0, SECONDS), 1.0);
    assert_eq!(after(FIRST / 4.0, 2.0 * SECONDS), 0.125);
    assert_eq!((0..9).map(|_| after(1.0, 1.0)).last(), Some(LEAST / FIRST));
}

#[test]
fn pause_after_stop_is_not_counted_as_work() {
    let mut pacing = Pacing::new(None);
    pacing.submitted(0.0, FIRST, ());
    pacing.forget();
    pacing.submitted(60.0, FIRST, ());
    pacing.done(60.001, 1);
    assert_eq!(pacing.operations, 2.0 * FIRST);
}

#[test]
fn fixed_pace_stays() {
    let mut pacing = Pacing::new(Some(7.0));
    assert_eq!(pacing.tokens_in_flight(), TOKENS);
    pacing.submitted(0.0, 7.0, ());
    pacing.done(9.0, 1);
    pacing.token_done(9.0, 99.0);
    assert_eq!((pacing.operations, pacing.tokens_in_flight()), (7.0, TOKENS));
    assert!(pacing.has_room(0.0, 8.0) && pacing.has_room(3.0, 4.0) && !pacing.has_room(3.0, 5.0));
}

#[test]
fn slow_tokens_are_not_computed_ahead() {
    let mut pacing = Pacing::<()>::new(None);
    assert_eq!(pacing.tokens_in_flight(), 2);
    let mut after = |seconds: f64| {
        pacing.token_done(pacing.ended, pacing.ended + seconds);
        pacing.tokens_in_flight()
    };
    assert_eq!([0.16, 0.06, 0.04, 0.001].map(&mut after), [1, 1, 2, 4]);
}

#[test]
fn dispatch_has_whole_workgroups() {
    assert_eq!(rows_per_dispatch(1e9, 1e6, 64), 960);
    assert_eq!(rows_per_dispatch(1.0, 1e6, 64), 64);
    assert!(rows_per_dispatch(f64::INFINITY, 1e6, 64) >= 1 << 30);
    assert!(rows_per_dispatch(f64::INFINITY, 0.0, 128) >= 1 << 30);
}
