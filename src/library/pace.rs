//! How fast bytes come and how long the rest takes, from the last seconds.

use std::collections::VecDeque;

/// What is older says little about the network now.
const WINDOW_MILLIS: f64 = 10_000.0;
/// Before that, a rate is a guess.
const FIRST_MILLIS: f64 = 1_000.0;

/// Arrivals of the last seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pace {
    /// When how many bytes were there.
    seen: VecDeque<(f64, u64)>,
}

impl Pace {
    /// So many bytes are there now.
    pub fn see(&mut self, now_millis: f64, bytes: u64) {
        // Fewer bytes than before: it began anew.
        if self.seen.back().is_some_and(|&(_, before)| before > bytes) {
            self.seen.clear();
        }
        self.seen.push_back((now_millis, bytes));
        while self.seen.len() > 2 && self.seen[1].0 < now_millis - WINDOW_MILLIS {
            self.seen.pop_front();
        }
    }

    /// Forgets what came before a break.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    /// Bytes a second; `None` before that can be said.
    pub fn rate(&self) -> Option<f64> {
        let (&(began, first), &(now, last)) = (self.seen.front()?, self.seen.back()?);
        (now - began >= FIRST_MILLIS).then(|| (last - first) as f64 / (now - began) * 1e3)
    }

    /// Seconds for `left` more bytes.
    pub fn seconds_left(&self, left: u64) -> Option<f64> {
        self.rate().filter(|rate| *rate > 0.0).map(|rate| left as f64 / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let mut pace = Pace::default();
        pace.see(0.0, 0);
        assert_eq!(pace.rate(), None);
        (1..=60).for_each(|second| pace.see(1e3 * f64::from(second), if second < 30 { 0 } else { 1_000 * (second as u64 - 29) }));
        assert!((pace.rate().unwrap() - 1_000.0).abs() < 1e-6);
        assert!((pace.seconds_left(5_000).unwrap() - 5.0).abs() < 1e-6);
    }

    #[test]
    fn a_new_beginning_has_no_rate_yet() {
        let mut pace = Pace::default();
        pace.see(0.0, 500);
        pace.see(2_000.0, 100);
        assert_eq!(pace.rate(), None);
        assert_eq!(pace.seconds_left(5), None);
    }
}
