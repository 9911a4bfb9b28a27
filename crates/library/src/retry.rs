//! Decides how long to wait before another attempt, what ends a wait early, and when to give up.

use super::errors::{LibraryError, RetryCause};

/// Limits after which to give up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Maximum number of consecutive attempts without a new byte.
    max_attempts: u32,
    /// Maximum wait, in seconds. If the server requests a longer wait, give up.
    max_wait_seconds: f64,
}

impl RetryPolicy {
    /// For a download, which runs unattended.
    pub const DOWNLOAD: Self = Self { max_attempts: 8, max_wait_seconds: f64::INFINITY };
    /// For a preview, while the visitor waits.
    pub const PREVIEW: Self = Self { max_attempts: 4, max_wait_seconds: 10.0 };
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq)]
pub enum AttemptError {
    /// Another attempt may succeed. The server may request a delay in seconds.
    Retry { cause: RetryCause, seconds: Option<f64> },
    /// Another attempt would fail, too.
    Fail(LibraryError),
}

impl From<RetryCause> for AttemptError {
    fn from(cause: RetryCause) -> Self {
        Self::Retry { cause, seconds: None }
    }
}

/// Maximum number of consecutive refusals. The next response replaces an expired address, so repeated refusals are final.
const MAX_REFUSALS: u32 = 3;
const FIRST_SECONDS: f64 = 0.5;
const LONGEST_SECONDS: f64 = 30.0;

/// Failed attempts since the last received byte.
#[derive(Clone, Debug)]
pub struct Retries {
    policy: RetryPolicy,
    failures: u32,
    refusals: u32,
}

impl Retries {
    pub fn new(policy: RetryPolicy) -> Self {
        Self { policy, failures: 0, refusals: 0 }
    }

    /// Clears earlier failures, because bytes have arrived.
    pub fn reset(&mut self) {
        *self = Self::new(self.policy);
    }

    /// Seconds to wait after one more failure (exponential backoff with jitter); `None` to give up. `requested_seconds` is the minimum
    /// delay that the server requests. `random` in [0, 1) spreads clients that failed together.
    pub fn delay_seconds(&mut self, cause: RetryCause, requested_seconds: Option<f64>, random: f64) -> Option<f64> {
        self.failures += 1;
        self.refusals += u32::from(cause.is_refusal());
        if self.failures >= self.policy.max_attempts || self.refusals >= MAX_REFUSALS {
            return None;
        }
        let backoff = (FIRST_SECONDS * f64::from(1 << (self.failures - 1))).min(LONGEST_SECONDS) * (0.75 + 0.5 * random);
        let seconds = requested_seconds.map_or(backoff, |requested| requested.max(backoff));
        (seconds <= self.policy.max_wait_seconds).then_some(seconds)
    }
}

/// A wait between two attempts.
#[derive(Clone, Debug)]
pub struct RetryTimer {
    until_millis: f64,
    /// Whether the server requested the wait. A restored network does not shorten such a wait.
    was_requested: bool,
    was_offline: bool,
}

/// State of a wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimerState {
    /// Seconds left.
    Running(f64),
    /// The device is offline. The wait cannot end before it is online again.
    Offline,
    Elapsed,
}

impl RetryTimer {
    pub fn new(seconds: f64, was_requested: bool, now_millis: f64) -> Self {
        Self { until_millis: now_millis + 1e3 * seconds, was_requested, was_offline: false }
    }

    pub fn poll(&mut self, now_millis: f64, is_offline: bool) -> TimerState {
        self.was_offline |= is_offline;
        let is_network_back = self.was_offline && !self.was_requested;
        match (self.until_millis - now_millis) / 1e3 {
            _ if is_offline => TimerState::Offline,
            seconds if seconds > 0.0 && !is_network_back => TimerState::Running(seconds),
            _ => TimerState::Elapsed,
        }
    }

    /// Whether the device was offline during the wait. Earlier failures then do not count for the next attempt.
    pub fn was_offline(&self) -> bool {
        self.was_offline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(policy: RetryPolicy, cause: RetryCause) -> Vec<f64> {
        let mut retries = Retries::new(policy);
        std::iter::from_fn(|| retries.delay_seconds(cause, None, 0.5)).collect()
    }

    #[test]
    fn delays_double_up_to_a_limit_and_end() {
        assert_eq!(delays(RetryPolicy::DOWNLOAD, RetryCause::Stalled), [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0]);
        assert_eq!(delays(RetryPolicy::PREVIEW, RetryCause::Stalled), [0.5, 1.0, 2.0]);
        let mut retries = Retries::new(RetryPolicy::DOWNLOAD);
        retries.delay_seconds(RetryCause::Stalled, None, 0.5);
        retries.reset();
        assert_eq!(retries.delay_seconds(RetryCause::Stalled, None, 0.5), Some(0.5));
    }

    #[test]
    fn those_who_failed_together_do_not_come_back_together() {
        let delay = |random| Retries::new(RetryPolicy::DOWNLOAD).delay_seconds(RetryCause::Stalled, None, random);
        assert_eq!([0.0, 0.25, 0.75].map(delay), [Some(0.375), Some(0.4375), Some(0.5625)]);
    }

    #[test]
    fn requested_delay_is_respected_unless_too_long() {
        let delay = |policy, requested| Retries::new(policy).delay_seconds(RetryCause::Busy(429), Some(requested), 0.5);
        assert_eq!((delay(RetryPolicy::DOWNLOAD, 9.0), delay(RetryPolicy::DOWNLOAD, 0.0)), (Some(9.0), Some(0.5)));
        assert_eq!((delay(RetryPolicy::DOWNLOAD, 60.0), delay(RetryPolicy::PREVIEW, 60.0)), (Some(60.0), None));
    }

    #[test]
    fn a_server_that_refuses_is_asked_three_times() {
        assert_eq!(delays(RetryPolicy::DOWNLOAD, RetryCause::Refused(403)).len(), 2);
    }

    #[test]
    fn wait_ends_on_time_or_reconnect_never_offline() {
        let mut wait = RetryTimer::new(2.0, false, 0.0);
        assert_eq!((wait.poll(500.0, false), wait.poll(2_000.0, false)), (TimerState::Running(1.5), TimerState::Elapsed));
        assert!(!wait.was_offline());
        let mut wait = RetryTimer::new(2.0, false, 0.0);
        assert_eq!((wait.poll(500.0, true), wait.poll(9_000.0, true)), (TimerState::Offline, TimerState::Offline));
        assert!(wait.was_offline() && wait.poll(9_000.0, false) == TimerState::Elapsed);
        let mut wait = RetryTimer::new(2.0, false, 0.0);
        assert_eq!((wait.poll(500.0, true), wait.poll(600.0, false)), (TimerState::Offline, TimerState::Elapsed));
    }

    #[test]
    fn reconnect_does_not_shorten_requested_wait() {
        let mut wait = RetryTimer::new(2.0, true, 0.0);
        assert_eq!((wait.poll(500.0, true), wait.poll(1_000.0, false)), (TimerState::Offline, TimerState::Running(1.0)));
        assert_eq!(wait.poll(2_000.0, false), TimerState::Elapsed);
    }
}
