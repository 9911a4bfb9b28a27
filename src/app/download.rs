//! The download that goes on, as the visitor sees it.

use super::number;
use crate::library::messages::{Fetching, Stage, Wanted};
use crate::library::pace::Pace;
use crate::problem::Problem;

/// A model on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Download {
    pub wanted: Wanted,
    /// Here so far.
    pub bytes: u64,
    /// 0 where it is not known.
    pub total: u64,
    pub state: State,
    /// What is not as usual.
    pub notice: Option<String>,
    pace: Pace,
}

#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Asked for; nothing came yet.
    Starting,
    Going(Stage),
    /// Stopped, by the visitor or for this reason. What is here is kept.
    Paused(Option<Problem>),
}

impl Download {
    /// One that begins now.
    pub fn new(wanted: Wanted) -> Self {
        let total = wanted.bytes().unwrap_or(0);
        Self { wanted, bytes: 0, total, state: State::Starting, notice: None, pace: Pace::default() }
    }

    /// One that was not finished on an earlier visit.
    pub fn unfinished(wanted: Wanted) -> Self {
        Self { state: State::Paused(None), ..Self::new(wanted) }
    }

    pub fn is_paused(&self) -> bool {
        matches!(self.state, State::Paused(_))
    }

    /// It is so far now.
    pub fn went_on(&mut self, Fetching { bytes, total, stage, notice, .. }: Fetching, now_millis: f64) {
        match stage {
            Stage::Downloading => self.pace.see(now_millis, bytes),
            _ => self.pace.forget(),
        }
        (self.bytes, self.total, self.notice) = (bytes, total, notice);
        self.state = State::Going(stage);
    }

    pub fn paused(&mut self, problem: Option<Problem>) {
        self.pace.forget();
        self.state = State::Paused(problem);
    }

    /// The part that is here, in [0, 1], where that is known.
    pub fn progress(&self) -> Option<f64> {
        (self.total > 0).then(|| self.bytes as f64 / self.total as f64)
    }

    /// What goes on, in words that change seldom (they are read aloud).
    pub fn phase(&self) -> &'static str {
        match (&self.state, self.wanted.is_copy()) {
            (State::Starting, false) => "Starting the download",
            (State::Starting, true) => "Starting the copy",
            (State::Going(Stage::Checking), _) => "Checking what is here already",
            (State::Going(Stage::Downloading), false) => "Downloading",
            (State::Going(Stage::Downloading), true) => "Copying into this browser\u{2019}s storage",
            (State::Going(Stage::Waiting { .. }), _) => "Waiting",
            (State::Paused(None), false) => "Download paused",
            (State::Paused(None), true) => "Copy paused",
            (State::Paused(Some(_)), false) => "Download stopped",
            (State::Paused(Some(_)), true) => "Copy stopped",
        }
    }

    /// "312.0 MB of 639.4 MB (49%), 2.3 MB/s, about 2 min left".
    pub fn detail(&self) -> String {
        let amount = match (self.progress(), self.bytes) {
            (None, 0) => String::new(),
            (None, bytes) => number::bytes(bytes),
            (Some(_), 0) => format!("{} in all", number::bytes(self.total)),
            (Some(part), bytes) => format!("{} of {} ({})", number::bytes(bytes), number::bytes(self.total), number::percent(part)),
        };
        let more = match &self.state {
            State::Going(Stage::Downloading) => self.speed(),
            State::Going(Stage::Waiting { seconds: Some(seconds), why }) => format!(": {why}; next try in {seconds:.0}\u{a0}s"),
            State::Going(Stage::Waiting { seconds: None, why }) => format!(": {why}; it goes on when this device is online again"),
            State::Paused(Some(problem)) => format!(". {problem}"),
            _ => String::new(),
        };
        format!("{amount}{more}")
    }

    fn speed(&self) -> String {
        let rate = self.pace.rate().map(|rate| format!(", {}/s", number::bytes(rate as u64)));
        let left = self.pace.seconds_left(self.total.saturating_sub(self.bytes)).filter(|_| self.total > 0);
        let left = left.map(|seconds| format!(", {} left", number::wait(seconds)));
        rate.unwrap_or_default() + &left.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::messages::Part;

    fn at(bytes: u64, stage: Stage) -> Fetching {
        Fetching { name: "Qwen".into(), bytes, total: 600_000_000, stage, notice: None }
    }

    #[test]
    fn bytes_rate_and_time_left_are_told() {
        let mut download = Download::new(Wanted::default());
        assert_eq!((download.phase(), download.detail()), ("Starting the download", String::new()));
        download.went_on(at(0, Stage::Downloading), 0.0);
        download.went_on(at(300_000_000, Stage::Downloading), 100_000.0);
        assert_eq!(download.detail(), "300.0 MB of 600.0 MB (50%), 3.0 MB/s, about 2 min left");
        assert_eq!(download.progress(), Some(0.5));
    }

    #[test]
    fn a_copy_is_no_download() {
        let part = Part::of_device("c.gguf", 600_000_000, 0.0);
        let mut copy = Download::new(Wanted { name: "c.gguf".into(), parts: vec![part] });
        assert_eq!((copy.phase(), copy.detail().as_str()), ("Starting the copy", "600.0 MB in all"));
        copy.paused(None);
        assert_eq!(copy.phase(), "Copy paused");
    }

    #[test]
    fn a_pause_says_why_and_forgets_the_rate() {
        let mut download = Download::new(Wanted::default());
        download.went_on(at(6_000_000, Stage::Waiting { seconds: Some(3.2), why: "the server is busy (429)".into() }), 0.0);
        assert_eq!(download.detail(), "6.0 MB of 600.0 MB (1%): the server is busy (429); next try in 3\u{a0}s");
        download.went_on(at(6_000_000, Stage::Waiting { seconds: None, why: "the connection broke off".into() }), 0.0);
        assert!(download.detail().ends_with("the connection broke off; it goes on when this device is online again"));
        download.paused(Some(Problem::new("the network is down", "Press Resume")));
        assert_eq!(download.detail(), "6.0 MB of 600.0 MB (1%). The network is down. Press Resume.");
        assert!(download.is_paused());
    }
}
