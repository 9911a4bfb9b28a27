//! State of the current download, as the visitor sees it.

use crate::app::analysis::number;
use crate::app::i18n::{message_text, problem_text, t};
use crate::library::download_spec::DownloadSpec;
use crate::library::progress::{DownloadNotice, DownloadProgress, DownloadStage};
use crate::library::transfer_rate::TransferRate;
use crate::problem::Problem;
use glasscage_message::ToMessage;

/// A model that is being downloaded or copied.
#[derive(Clone, Debug, PartialEq)]
pub struct Download {
    pub spec: DownloadSpec,
    /// Bytes received so far.
    pub bytes: u64,
    /// Total size in bytes. 0 if it is unknown.
    pub total: u64,
    pub state: DownloadState,
    /// The latest unusual event of the download.
    pub notice: Option<DownloadNotice>,
    rate: TransferRate,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DownloadState {
    /// Requested, but without progress so far.
    Starting,
    Going(DownloadStage),
    /// Stopped by the visitor, or by this problem. The received bytes are kept.
    Paused(Option<Problem>),
}

impl Download {
    /// A download that starts now.
    pub fn new(spec: DownloadSpec) -> Self {
        let total = spec.bytes().unwrap_or(0);
        Self { spec, bytes: 0, total, state: DownloadState::Starting, notice: None, rate: TransferRate::default() }
    }

    /// A paused download from an earlier visit.
    pub fn unfinished(spec: DownloadSpec) -> Self {
        Self { state: DownloadState::Paused(None), ..Self::new(spec) }
    }

    pub fn is_paused(&self) -> bool {
        matches!(self.state, DownloadState::Paused(_))
    }

    /// Updates the download with reported progress.
    pub fn advanced(&mut self, DownloadProgress { bytes, total, stage, notice }: DownloadProgress, now_millis: f64) {
        match stage {
            DownloadStage::Downloading => self.rate.record(now_millis, bytes),
            _ => self.rate.reset(),
        }
        (self.bytes, self.total, self.notice) = (bytes, total, notice);
        self.state = DownloadState::Going(stage);
    }

    pub fn paused(&mut self, problem: Option<Problem>) {
        self.rate.reset();
        self.state = DownloadState::Paused(problem);
    }

    /// Received fraction in [0, 1]. `None` if the total size is unknown.
    pub fn progress(&self) -> Option<f64> {
        (self.total > 0).then(|| self.bytes as f64 / self.total as f64)
    }

    /// The current phase in words that change rarely, because screen readers read them aloud.
    pub fn phase(&self) -> &'static str {
        match (&self.state, self.spec.is_local_copy()) {
            (DownloadState::Starting, false) => t!("Starting the download"),
            (DownloadState::Starting, true) => t!("Starting the copy"),
            (DownloadState::Going(DownloadStage::Checking), _) => t!("Checking what was downloaded earlier"),
            (DownloadState::Going(DownloadStage::Downloading), false) => t!("Downloading"),
            (DownloadState::Going(DownloadStage::Downloading), true) => t!("Copying into this browser\u{2019}s storage"),
            (DownloadState::Going(DownloadStage::Waiting { .. }), _) => t!("Waiting"),
            (DownloadState::Paused(None), false) => t!("Download paused"),
            (DownloadState::Paused(None), true) => t!("Copy paused"),
            (DownloadState::Paused(Some(_)), false) => t!("Download stopped"),
            (DownloadState::Paused(Some(_)), true) => t!("Copy stopped"),
        }
    }

    /// Amount, speed and time left: "312.0 MB of 639.4 MB (49%), 2.3 MB/s, about 2 min left".
    pub fn detail(&self) -> String {
        let amount = match (self.progress(), self.bytes) {
            (None, 0) => String::new(),
            (None, bytes) => number::bytes(bytes),
            (Some(_), 0) => t!("{size} in total", size = number::bytes(self.total)),
            (Some(part), bytes) => {
                let [size, whole] = [bytes, self.total].map(number::bytes);
                t!("{size} of {whole} ({share})", size, whole, share = number::percent(part))
            }
        };
        let before = |separator: &str| if amount.is_empty() { String::new() } else { format!("{amount}{separator}") };
        match &self.state {
            DownloadState::Going(DownloadStage::Downloading) => amount + &self.speed(),
            DownloadState::Going(DownloadStage::Waiting { seconds: Some(seconds), cause }) => {
                let cause = message_text(&cause.to_message());
                before(t!(": ")) + &t!("{cause}; next try in {n}\u{a0}s", cause, n = format!("{seconds:.0}"))
            }
            DownloadState::Going(DownloadStage::Waiting { seconds: None, cause }) => {
                let cause = message_text(&cause.to_message());
                before(t!(": ")) + &t!("{cause}; it goes on when this device is online again", cause)
            }
            DownloadState::Paused(Some(problem)) if amount.is_empty() => problem_text(problem),
            DownloadState::Paused(Some(problem)) => t!("{amount}. {problem}", amount, problem = problem_text(problem)),
            _ => amount,
        }
    }

    fn speed(&self) -> String {
        let rate = self.rate.bytes_per_second().map(|rate| t!("{size}/s", size = number::bytes(rate as u64)));
        let left = self.rate.seconds_left(self.total.saturating_sub(self.bytes)).filter(|_| self.total > 0);
        let left = left.map(|seconds| t!("{time} left", time = number::wait(seconds)));
        [rate, left].into_iter().flatten().flat_map(|part| [t!(", ").to_owned(), part]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::download_spec::FileSpec;
    use crate::library::errors::RetryCause;
    use glasscage_message::message;

    fn at(bytes: u64, stage: DownloadStage) -> DownloadProgress {
        DownloadProgress { bytes, total: 600_000_000, stage, notice: None }
    }

    #[test]
    fn bytes_rate_and_time_left_are_stated() {
        let mut download = Download::new(DownloadSpec::default());
        assert_eq!((download.phase(), download.detail()), ("Starting the download", String::new()));
        download.advanced(at(0, DownloadStage::Downloading), 0.0);
        download.advanced(at(300_000_000, DownloadStage::Downloading), 100_000.0);
        assert_eq!(download.detail(), "300.0 MB of 600.0 MB (50%), 3.0 MB/s, about 2 min left");
        assert_eq!(download.progress(), Some(0.5));
    }

    #[test]
    fn a_copy_is_no_download() {
        let part = FileSpec::local("c.gguf", 600_000_000, 0.0);
        let mut copy = Download::new(DownloadSpec { name: "c.gguf".into(), files: vec![part] });
        assert_eq!((copy.phase(), copy.detail().as_str()), ("Starting the copy", "600.0 MB in total"));
        copy.paused(None);
        assert_eq!(copy.phase(), "Copy paused");
    }

    #[test]
    fn a_pause_says_why_and_forgets_the_rate() {
        let mut download = Download::new(DownloadSpec::default());
        download.advanced(at(6_000_000, DownloadStage::Waiting { seconds: Some(3.2), cause: RetryCause::Busy(429) }), 0.0);
        assert_eq!(download.detail(), "6.0 MB of 600.0 MB (1%): the server is busy (429); next try in 3\u{a0}s");
        download.advanced(at(6_000_000, DownloadStage::Waiting { seconds: None, cause: RetryCause::ConnectionLost }), 0.0);
        assert!(download.detail().ends_with("the connection was lost; it goes on when this device is online again"));
        let mut empty = Download::new(DownloadSpec::default());
        empty.advanced(
            DownloadProgress { total: 0, ..at(0, DownloadStage::Waiting { seconds: Some(3.2), cause: RetryCause::Busy(429) }) },
            0.0,
        );
        assert_eq!(empty.detail(), "the server is busy (429); next try in 3\u{a0}s");
        empty.paused(Some(Problem::new(message!("the network is down"), message!("Press Resume"))));
        assert_eq!(empty.detail(), "The network is down. Press Resume.");
        download.paused(Some(Problem::new(message!("the network is down"), message!("Press Resume"))));
        assert_eq!(download.detail(), "6.0 MB of 600.0 MB (1%). The network is down. Press Resume.");
        assert!(download.is_paused());
    }
}
