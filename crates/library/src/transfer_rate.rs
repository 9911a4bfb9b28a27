//! Transfer rate and remaining time, measured over the last seconds.

use std::collections::VecDeque;

/// Older samples are dropped, because they say little about the current rate.
const WINDOW_MILLIS: f64 = 10_000.0;
/// A rate over less time is only a guess.
const MIN_MILLIS: f64 = 1_000.0;

/// The rate of a transfer over the last seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransferRate {
    /// Times in milliseconds, each with the number of bytes transferred by then.
    samples: VecDeque<(f64, u64)>,
}

impl TransferRate {
    /// Records that `bytes` are transferred now.
    pub fn record(&mut self, now_millis: f64, bytes: u64) {
        // Fewer bytes than before: the transfer started over.
        if self.samples.back().is_some_and(|&(_, before)| before > bytes) {
            self.samples.clear();
        }
        self.samples.push_back((now_millis, bytes));
        while self.samples.len() > 2 && self.samples[1].0 < now_millis - WINDOW_MILLIS {
            self.samples.pop_front();
        }
    }

    /// Forgets the samples before an interruption.
    pub fn reset(&mut self) {
        self.samples.clear();
    }

    /// Bytes per second; `None` until enough is known.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let (&(began, first), &(now, last)) = (self.samples.front()?, self.samples.back()?);
        (now - began >= MIN_MILLIS).then(|| (last - first) as f64 / (now - began) * 1e3)
    }

    /// Seconds for `left` more bytes; `None` if the rate is unknown or 0.
    pub fn seconds_left(&self, left: u64) -> Option<f64> {
        self.bytes_per_second().filter(|rate| *rate > 0.0).map(|rate| left as f64 / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let mut rate = TransferRate::default();
        rate.record(0.0, 0);
        assert_eq!(rate.bytes_per_second(), None);
        (1..=60).for_each(|second| rate.record(1e3 * f64::from(second), if second < 30 { 0 } else { 1_000 * (second as u64 - 29) }));
        assert!((rate.bytes_per_second().unwrap() - 1_000.0).abs() < 1e-6);
        assert!((rate.seconds_left(5_000).unwrap() - 5.0).abs() < 1e-6);
    }

    #[test]
    fn samples_before_window_are_ignored() {
        let mut rate = TransferRate::default();
        for (second, bytes) in [(0.0, 0), (5.0, 0), (10.0, 1_000), (16.0, 12_000)] {
            rate.record(1e3 * second, bytes);
        }
        assert!((rate.bytes_per_second().unwrap() - 12_000.0 / 11.0).abs() < 1e-6);
    }

    #[test]
    fn a_pause_slows_the_rate_and_an_interruption_is_forgotten() {
        let mut rate = TransferRate::default();
        [(0.0, 0), (1e3, 0)].into_iter().for_each(|(now, bytes)| rate.record(now, bytes));
        assert_eq!((rate.bytes_per_second(), rate.seconds_left(5)), (Some(0.0), None));
        [(2e3, 3_000), (3e3, 3_000)].into_iter().for_each(|(now, bytes)| rate.record(now, bytes));
        assert!((rate.bytes_per_second().unwrap() - 1_000.0).abs() < 1e-6);
        rate.reset();
        assert_eq!(rate, TransferRate::default());
    }

    #[test]
    fn a_new_beginning_has_no_rate_yet() {
        let mut rate = TransferRate::default();
        rate.record(0.0, 500);
        rate.record(2_000.0, 100);
        assert_eq!(rate.bytes_per_second(), None);
        assert_eq!(rate.seconds_left(5), None);
    }
}
