//! Limits each GPU submission to about 50 ms of work, because drivers reset slow GPUs and Stop must act quickly. Adapts the limit to
//! measured times, so that fast GPUs stay busy. Pure: the caller passes the current time in seconds.

use std::collections::VecDeque;

/// Target duration of a submission, in seconds.
const SECONDS: f64 = 0.05;
/// Maximum number of submissions in flight: while one runs, the next is prepared.
const IN_FLIGHT: usize = 2;
/// Operations in the first submission: 7 ms on a GPU with 15e9 operations per second.
const FIRST: f64 = 1e8;
/// Lower bound of the limit, in operations per submission.
const LEAST: f64 = 1e7;
/// Maximum number of tokens in flight.
const TOKENS: usize = 4;

/// Adaptive submission limit of one device. `T` is a handle for waiting until a submission has ended.
#[derive(Debug)]
pub struct Pacing<T> {
    /// Maximum number of operations in the next submission.
    operations: f64,
    /// Whether `operations` is constant.
    is_fixed: bool,
    /// Submissions in flight, the oldest first.
    in_flight: VecDeque<InFlight<T>>,
    /// Time when the last known submission ended, in seconds.
    ended: f64,
    /// Seconds to generate a token; `None` until measured.
    token_seconds: Option<f64>,
}

#[derive(Debug)]
struct InFlight<T> {
    /// Time of submission, in seconds.
    at: f64,
    operations: f64,
    /// `None` after the caller took it to wait for the submission.
    handle: Option<T>,
}

impl<T> Pacing<T> {
    /// If `fixed` is set, each submission has at most that many operations, and their number does not depend on the machine.
    pub fn new(fixed: Option<f64>) -> Self {
        let (operations, is_fixed) = (fixed.unwrap_or(FIRST), fixed.is_some());
        Self { operations, is_fixed, in_flight: VecDeque::new(), ended: 0.0, token_seconds: None }
    }

    /// Maximum number of operations of a dispatch that can be divided: half a submission.
    pub fn max_dispatch(&self) -> f64 {
        self.operations / 2.0
    }

    /// Whether a dispatch of `next` operations fits into a submission that already has `so_far` operations.
    pub fn has_room(&self, so_far: f64, next: f64) -> bool {
        so_far == 0.0 || so_far + next <= self.operations
    }

    /// Whether the caller must wait for the oldest submission before the next one.
    pub fn is_busy(&self) -> bool {
        self.in_flight.len() >= IN_FLIGHT
    }

    pub fn submitted(&mut self, now: f64, operations: f64, handle: T) {
        self.in_flight.push_back(InFlight { at: now, operations, handle: Some(handle) });
    }

    /// Handle of the oldest submission, to wait for.
    pub fn oldest(&mut self) -> Option<T> {
        self.in_flight.front_mut()?.handle.take()
    }

    /// Records that the oldest `n` submissions have ended, or all if there are fewer.
    pub fn done(&mut self, now: f64, n: usize) {
        let n = n.min(self.in_flight.len());
        let Some(oldest) = self.in_flight.front().filter(|_| n > 0) else { return };
        // The GPU runs submissions in order. If several end at the same time, each counts as their mean.
        let seconds = (now - oldest.at.max(self.ended)) / n as f64;
        let operations = self.in_flight.drain(..n).map(|submission| submission.operations).sum::<f64>() / n as f64;
        self.ended = now;
        if !self.is_fixed {
            self.adapt(operations, seconds);
        }
    }

    /// Forgets the submissions in flight. After a pause, their times would be misleading.
    pub fn forget(&mut self) {
        self.in_flight.clear();
    }

    /// Raises the limit, at most to double, if a large submission was fast. Lowers it, at most to an eighth, if a submission was slow. A
    /// fast but small submission does not change it.
    fn adapt(&mut self, operations: f64, seconds: f64) {
        let affordable = operations * SECONDS / seconds;
        if seconds > SECONDS {
            self.operations = affordable.clamp(self.operations / 8.0, self.operations).max(LEAST);
        } else if operations >= self.operations / 2.0 {
            self.operations = affordable.clamp(self.operations, 2.0 * self.operations);
        }
    }

    /// Records that a generated token arrived whose work was submitted at time `at`.
    pub fn token_done(&mut self, at: f64, now: f64) {
        self.token_seconds = Some(now - at.max(self.ended));
        self.ended = now;
    }

    /// Number of tokens to keep in flight. After Stop, they take at most as long as other submissions in flight, or as one token.
    pub fn tokens_in_flight(&self) -> usize {
        match self.token_seconds {
            _ if self.is_fixed => TOKENS,
            None => IN_FLIGHT,
            Some(seconds) => ((IN_FLIGHT as f64 * SECONDS / seconds) as usize).clamp(1, TOKENS),
        }
    }
}

/// Number of matrix rows per dispatch: as many whole workgroups as fit in `max_operations`, at least one workgroup.
pub fn rows_per_dispatch(max_operations: f64, operations_per_row: f64, rows_per_workgroup: usize) -> usize {
    let workgroups = max_operations / (operations_per_row * rows_per_workgroup as f64).max(1.0);
    (workgroups as usize).clamp(1, usize::MAX / rows_per_workgroup) * rows_per_workgroup
}

#[cfg(test)]
mod tests;
