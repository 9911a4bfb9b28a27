//! How much goes into one submission, so that it takes about 50 ms on the GPU at hand: no watchdog resets it, Stop acts at once, and a
//! fast one is not kept waiting. Pure: whoever submits says what the clock says.

use std::collections::VecDeque;

/// How long a submission should take.
const SECONDS: f64 = 0.05;
/// Submissions on their way at once: while one runs, the next one is made.
const IN_FLIGHT: usize = 2;
/// Operations in the first submission: 7 ms of a GPU that does 15e9 a second.
const FIRST: f64 = 1e8;
/// The fewest operations that a submission is limited to.
const LEAST: f64 = 1e7;
/// The most tokens on their way at once.
const TOKENS: usize = 4;

/// The pace of one device. `T` is what somebody needs to wait for a submission.
#[derive(Debug)]
pub struct Pacing<T> {
    /// Operations that the next submission should have, at most.
    operations: f64,
    /// They stay what they are.
    is_fixed: bool,
    /// The oldest first.
    in_flight: VecDeque<InFlight<T>>,
    /// When the last one ended that is known of, in seconds.
    ended: f64,
    /// How long a token takes to generate, once that is known.
    token_seconds: Option<f64>,
}

#[derive(Debug)]
struct InFlight<T> {
    /// When it was submitted, in seconds.
    at: f64,
    operations: f64,
    /// `None` once somebody waits for it.
    handle: Option<T>,
}

impl<T> Pacing<T> {
    /// `fixed` operations in a submission where that is given, so that their number does not depend on the machine.
    pub fn new(fixed: Option<f64>) -> Self {
        let (operations, is_fixed) = (fixed.unwrap_or(FIRST), fixed.is_some());
        Self { operations, is_fixed, in_flight: VecDeque::new(), ended: 0.0, token_seconds: None }
    }

    /// The most operations of a dispatch that can be divided: two fit in a submission.
    pub fn max_dispatch(&self) -> f64 {
        self.operations / 2.0
    }

    /// Whether a dispatch of `next` operations goes into the submission that has so many so far.
    pub fn has_room(&self, so_far: f64, next: f64) -> bool {
        so_far == 0.0 || so_far + next <= self.operations
    }

    /// Whether the oldest submission is waited for before the next one.
    pub fn is_busy(&self) -> bool {
        self.in_flight.len() >= IN_FLIGHT
    }

    pub fn submitted(&mut self, now: f64, operations: f64, handle: T) {
        self.in_flight.push_back(InFlight { at: now, operations, handle: Some(handle) });
    }

    /// The oldest submission, to be waited for.
    pub fn oldest(&mut self) -> Option<T> {
        self.in_flight.front_mut()?.handle.take()
    }

    /// The oldest `n` submissions have ended, or all where there are fewer.
    pub fn done(&mut self, now: f64, n: usize) {
        let n = n.min(self.in_flight.len());
        let Some(oldest) = self.in_flight.front().filter(|_| n > 0) else { return };
        // The GPU takes one after the other. Of several that end as one, each counts as their mean.
        let seconds = (now - oldest.at.max(self.ended)) / n as f64;
        let operations = self.in_flight.drain(..n).map(|submission| submission.operations).sum::<f64>() / n as f64;
        self.ended = now;
        if !self.is_fixed {
            self.adapt(operations, seconds);
        }
    }

    /// Nobody waits for what is in flight: it says nothing of the pace of what comes after a pause.
    pub fn forget(&mut self) {
        self.in_flight.clear();
    }

    /// Twice as much where that many operations were fast; less, down to an eighth at a time, where they were slow. A small submission
    /// says nothing when it is fast.
    fn adapt(&mut self, operations: f64, seconds: f64) {
        let affordable = operations * SECONDS / seconds;
        if seconds > SECONDS {
            self.operations = affordable.clamp(self.operations / 8.0, self.operations).max(LEAST);
        } else if operations >= self.operations / 2.0 {
            self.operations = affordable.clamp(self.operations, 2.0 * self.operations);
        }
    }

    /// A generated token has arrived whose work was submitted at `at`.
    pub fn token_done(&mut self, at: f64, now: f64) {
        self.token_seconds = Some(now - at.max(self.ended));
        self.ended = now;
    }

    /// Tokens to have on their way at once: what they take after Stop is no more than that of other work, or that of one.
    pub fn tokens_in_flight(&self) -> usize {
        match self.token_seconds {
            _ if self.is_fixed => TOKENS,
            None => IN_FLIGHT,
            Some(seconds) => ((IN_FLIGHT as f64 * SECONDS / seconds) as usize).clamp(1, TOKENS),
        }
    }
}

/// How many rows of a matrix a dispatch multiplies with: all, or as many whole workgroups' as have `max_operations`, at least one's.
pub fn rows_per_dispatch(max_operations: f64, operations_per_row: f64, rows_per_workgroup: usize) -> usize {
    let workgroups = max_operations / (operations_per_row * rows_per_workgroup as f64).max(1.0);
    (workgroups as usize).clamp(1, usize::MAX / rows_per_workgroup) * rows_per_workgroup
}

#[cfg(test)]
mod tests;
