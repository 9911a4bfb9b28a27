//! Errors of downloading and storing models, and the sentences that a visitor reads about them.

use serde::{Deserialize, Serialize};

use super::address::host;
use glasscage_message::{Message, ToMessage, message};
use glasscage_protocol::problem::Problem;

/// Why a download attempt failed. Another attempt may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error, ToMessage)]
pub enum RetryCause {
    /// With the HTTP status.
    #[error("the server is busy ({0})")]
    Busy(u16),
    /// With the HTTP status. A signed address behind a redirect expires. The first server signs a new one for the next request.
    #[error("the server refused ({0})")]
    Refused(u16),
    #[error("the server did not send the requested bytes")]
    WrongRange,
    #[error("the server does not respond")]
    NoAnswer,
    /// The browser does not tell the page which of the two happened.
    #[error("the server cannot be reached, or does not let other pages read its files")]
    Unreachable,
    #[error("the connection was lost")]
    ConnectionLost,
    #[error("no data came for 30 seconds")]
    Stalled,
}

impl RetryCause {
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Refused(_))
    }
}

/// Why a model is not stored in the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error, ToMessage)]
pub enum NoStorage {
    #[error("this browser does not let the page store files (you may be in a private window)")]
    Unavailable,
    #[error("the browser\u{2019}s storage for this site is full")]
    Full,
}

/// Why an operation on the browser's storage failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, ToMessage)]
pub enum StorageError {
    #[error("{full}", full = NoStorage::Full)]
    Full,
    #[error("another tab is using this model")]
    InUse,
    /// With the browser's message, if there is one.
    #[error("{denied}", denied = denied(.0))]
    Denied(String),
}

/// Why a request to the library failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error, ToMessage)]
pub enum LibraryError {
    #[error("there is no file at this address (the server answered {0})")]
    NotFound(u16),
    #[error("the server answered {0}, which is not a file")]
    UnexpectedStatus(u16),
    #[error("the server is busy; try again in {minutes:.0} min")]
    BusyFor { minutes: f64 },
    #[error("the file on the server was replaced: it is shorter than what was downloaded")]
    Shortened,
    #[error("the file on the server is not the expected one: {actual} bytes instead of {expected}")]
    OtherLength { expected: u64, actual: u64 },
    #[error("access to this file is restricted")]
    AccessDenied,
    /// No bytes were downloaded yet.
    #[error("this model cannot be downloaded from {host} now: {cause}")]
    CannotBegin { host: String, cause: RetryCause },
    #[error("the download cannot continue: {0}")]
    RetriesExhausted(RetryCause),
    #[error("the connection was lost, and this server does not support resuming")]
    NotResumable,
    #[error("the file on the server was replaced while it was downloaded")]
    ReplacedAgain,
    #[error("the server sent more bytes than the file has")]
    TooLong,
    #[error("the file ended before the model was complete; it was deleted")]
    Truncated,
    #[error("the downloaded file is not the expected one (its SHA-256 is {sha256}); it was deleted")]
    WrongHash { sha256: String },
    /// Names what the engine does not support, and what it supports.
    #[error("{0}")]
    Unsupported(Message),
    /// An error of one of several files.
    #[error("{error}: {file}, one of this model\u{2019}s {n_files} files")]
    InFile { error: Box<Self>, file: String, n_files: usize },

    #[error("another model is being downloaded")]
    AlreadyDownloading,
    #[error("another tab of this page is downloading or using this model")]
    InUse,
    #[error("the model could not be stored: {0}")]
    NotStored(StorageError),
    #[error("no copy was kept: {0}")]
    NoCopy(NoStorage),
    #[error("no copy was kept: the file was changed or moved while it was read")]
    LocalFileChanged,
    #[error("the stored data of this model can no longer be read")]
    StoredFileUnreadable,
    #[error("this model is no longer stored on this device")]
    Gone,
    #[error("this model is damaged: a part of it is missing")]
    Damaged,
    #[error("a model was not deleted: {0}")]
    NotDeleted(StorageError),
}

impl LibraryError {
    /// The error that ends a download after its last attempt.
    pub fn after_retries(cause: RetryCause) -> Self {
        if cause.is_refusal() { Self::AccessDenied } else { Self::RetriesExhausted(cause) }
    }

    /// The error that ends the requests to this address before a download.
    pub fn before_download(address: &str, cause: RetryCause) -> Self {
        if cause.is_refusal() { Self::AccessDenied } else { Self::CannotBegin { host: host(address).to_owned(), cause } }
    }

    /// The next step for the visitor.
    fn remedy(&self) -> Message {
        match self {
            Self::NotFound(_) => message!("Check the address, or look on the model\u{2019}s page for the name of the file"),
            Self::UnexpectedStatus(_) => message!("Check the address, or try again later"),
            Self::BusyFor { .. } => message!("Try again after that time"),
            Self::Shortened => message!("Delete what was downloaded, then download it again"),
            Self::OtherLength { .. } => message!("It may be a newer version: open it by its address if you trust it"),
            Self::AccessDenied => {
                message!(
                    "Some models require you to accept a license first: open the model\u{2019}s page, download the file there, and open it \
                     here"
                )
            }
            Self::CannotBegin { .. } => message!("Check the address and the connection, then try again"),
            Self::RetriesExhausted(_) => message!("The downloaded part is kept. Check the connection, then press Resume"),
            Self::NotResumable => message!("Press Resume to start over"),
            Self::ReplacedAgain => message!("Download it again later"),
            Self::TooLong => message!("Download it again; if that happens again, choose another address"),
            Self::Truncated => message!("Download it again"),
            Self::WrongHash { .. } => message!("Download it again; if that happens again, the file on the server is a different one"),
            Self::Unsupported(_) => message!("Choose another model. This one was not downloaded"),
            Self::InFile { error, .. } => error.remedy(),
            Self::AlreadyDownloading => message!("Wait for the other download, or pause it first"),
            Self::InUse => message!("Wait for it there, or close that tab, then try again"),
            Self::NotStored(_) => message!("Free up space under “Choose a model” or on the device, then press Resume"),
            Self::NoCopy(NoStorage::Full) => {
                message!(
                    "The original file stays in use until you close this page. Free up space under “Choose a model” or on the device, \
                     then try again"
                )
            }
            Self::NoCopy(NoStorage::Unavailable) => message!("The file itself stays in use until this page is closed"),
            Self::LocalFileChanged => message!("Open the file again, then retry"),
            Self::StoredFileUnreadable => message!("Download it again"),
            Self::Gone => message!("Download it again, or choose another one"),
            Self::Damaged => message!("Delete it under “Choose a model” and download it again"),
            Self::NotDeleted(_) => message!("Close other tabs of this page, then try again"),
        }
    }
}

impl From<LibraryError> for Problem {
    fn from(error: LibraryError) -> Self {
        Self::new(error.to_message(), error.remedy())
    }
}

fn denied(reason: &str) -> Message {
    match reason {
        "" => NoStorage::Unavailable.to_message(),
        _ => message!("this browser does not let the page store files (you may be in a private window): {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_refusal_suggests_accepting_license() {
        assert!(Problem::from(LibraryError::after_retries(RetryCause::Refused(403))).to_string().contains("license"));
        let problem = Problem::from(LibraryError::after_retries(RetryCause::Stalled));
        assert_eq!(problem.what.to_sentence(), "The download cannot continue: no data came for 30 seconds.");
        assert!(problem.remedy.to_string().contains("Resume"));
        let problem = Problem::from(LibraryError::before_download("https://a.org/b.gguf", RetryCause::Unreachable));
        let [what, remedy] = [problem.what, problem.remedy].map(|message| message.to_sentence());
        assert!(what.starts_with("This model cannot be downloaded from a.org now: the server cannot") && !remedy.contains("Resume"));
    }

    #[test]
    fn one_of_several_files_is_named() {
        let file = "big-00001-of-00003.gguf".to_owned();
        let problem = Problem::from(LibraryError::InFile { error: Box::new(LibraryError::NotFound(404)), file, n_files: 3 });
        let what =
            "There is no file at this address (the server answered 404): big-00001-of-00003.gguf, one of this model\u{2019}s 3 files.";
        assert_eq!((&*problem.what.to_sentence(), problem.remedy.to_string().starts_with("Check the address")), (what, true));
    }

    #[test]
    fn the_browsers_own_words_come_last() {
        assert_eq!(StorageError::Denied(String::new()).to_string(), NoStorage::Unavailable.to_string());
        assert!(StorageError::Denied("odd".into()).to_string().ends_with("private window): odd"));
    }
}
