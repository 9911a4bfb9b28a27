//! How long to wait before asking again, what ends a wait early, and when to give up.

/// Tries without a single new byte, after which the visitor decides.
const TRIES: u32 = 8;
/// Tries that somebody waits for who wants to know what a file is.
const TRIES_WATCHED: u32 = 3;
/// A server that refuses may have an expired address behind it; a new one comes with the next answer.
const REFUSALS: u32 = 3;
const FIRST_SECONDS: f64 = 0.5;
const LONGEST_SECONDS: f64 = 30.0;

/// Failures since the last byte that came.
#[derive(Clone, Debug, Default)]
pub struct Patience {
    failures: u32,
    refusals: u32,
}

impl Patience {
    /// Something came: all is well again.
    pub fn renew(&mut self) {
        *self = Self::default();
    }

    /// Whether so little went wrong that somebody who watches would wait.
    pub fn is_fresh(&self) -> bool {
        self.failures <= TRIES_WATCHED
    }

    /// Seconds to wait after one more failure; `None` to give up. `asked`: what the server wants at least; `chance` in [0, 1)
    /// spreads those who failed together.
    pub fn wait(&mut self, asked: Option<f64>, was_refused: bool, chance: f64) -> Option<f64> {
        self.failures += 1;
        self.refusals += u32::from(was_refused);
        if self.failures >= TRIES || self.refusals >= REFUSALS {
            return None;
        }
        let own = (FIRST_SECONDS * f64::from(1 << (self.failures - 1))).min(LONGEST_SECONDS) * (0.75 + 0.5 * chance);
        Some(asked.map_or(own, |asked| asked.max(own)))
    }
}

/// A wait that goes on.
#[derive(Clone, Debug)]
pub struct Wait {
    until_millis: f64,
    /// The server asked for it: a network that is back does not shorten it.
    was_asked: bool,
    was_offline: bool,
}

/// Where a wait stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    Seconds(f64),
    /// The browser has no network: it is over when there is one again, and not before.
    Offline,
    Over,
}

impl Wait {
    pub fn new(seconds: f64, was_asked: bool, now_millis: f64) -> Self {
        Self { until_millis: now_millis + 1e3 * seconds, was_asked, was_offline: false }
    }

    pub fn look(&mut self, now_millis: f64, is_offline: bool) -> Moment {
        self.was_offline |= is_offline;
        let is_network_back = self.was_offline && !self.was_asked;
        match (self.until_millis - now_millis) / 1e3 {
            _ if is_offline => Moment::Offline,
            seconds if seconds > 0.0 && !is_network_back => Moment::Seconds(seconds),
            _ => Moment::Over,
        }
    }

    /// Whether there was no network for a while: what failed before that says nothing about the next try.
    pub fn was_offline(&self) -> bool {
        self.was_offline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit_and_end() {
        let mut patience = Patience::default();
        let waits: Vec<f64> = std::iter::from_fn(|| patience.wait(None, false, 0.5)).collect();
        assert_eq!(waits, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0]);
        patience.renew();
        assert_eq!(patience.wait(None, false, 0.5), Some(0.5));
    }

    #[test]
    fn a_server_is_not_asked_before_it_wants() {
        assert_eq!(Patience::default().wait(Some(9.0), false, 0.0), Some(9.0));
        assert_eq!(Patience::default().wait(Some(0.0), false, 0.5), Some(0.5));
    }

    #[test]
    fn a_server_that_refuses_is_asked_three_times() {
        let mut patience = Patience::default();
        assert_eq!(std::iter::from_fn(|| patience.wait(None, true, 0.5)).count(), 2);
    }

    #[test]
    fn a_wait_ends_in_time_or_when_the_network_is_back_but_never_without_one() {
        let mut wait = Wait::new(2.0, false, 0.0);
        assert_eq!((wait.look(500.0, false), wait.look(2_000.0, false)), (Moment::Seconds(1.5), Moment::Over));
        let mut wait = Wait::new(2.0, false, 0.0);
        assert_eq!((wait.look(500.0, true), wait.look(9_000.0, true)), (Moment::Offline, Moment::Offline));
        assert!(wait.was_offline() && wait.look(9_000.0, false) == Moment::Over);
        let mut wait = Wait::new(2.0, false, 0.0);
        assert_eq!((wait.look(500.0, true), wait.look(600.0, false)), (Moment::Offline, Moment::Over));
    }

    #[test]
    fn a_server_that_asked_to_wait_is_not_disturbed_because_the_network_is_back() {
        let mut wait = Wait::new(2.0, true, 0.0);
        assert_eq!((wait.look(500.0, true), wait.look(1_000.0, false)), (Moment::Offline, Moment::Seconds(1.0)));
        assert_eq!(wait.look(2_000.0, false), Moment::Over);
    }
}
