//! How a download ends, other than well, and what it says when it is not as usual.

use sha2::{Digest, Sha256};

use super::super::js::StorageError;
use crate::problem::Problem;

pub const NO_STORAGE: &str = "this browser does not let the page store files (a private window, perhaps)";
pub const STORAGE_FULL: &str = "the browser\u{2019}s storage for this site is full";
pub const NO_RANGES: &str = "This server cannot go on where a download stopped: after a break it begins again.";
pub const REPLACED: &str = "The file on the server was replaced meanwhile, so the download began again.";

/// Why a download ended before its end.
pub enum Break {
    Paused,
    /// What is here is kept.
    Kept(Problem),
    /// What is here is of no use and was deleted.
    Useless(Problem),
}

/// Whether the bytes are those that were expected, where that is known.
pub fn verify(expected: Option<&str>, hash: Sha256) -> Result<(), Break> {
    let found = hexadecimal(hash);
    match expected {
        Some(expected) if expected != found => Err(Break::Useless(Problem::new(
            format!("the file that arrived is not the one that was expected (its SHA-256 is {found}); it was deleted"),
            "Download it again; if that happens again, the file on the server is another one",
        ))),
        _ => Ok(()),
    }
}

pub fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn in_use() -> Problem {
    Problem::new("another tab of this page is downloading or using this model", "Wait for it there, or close that tab, then try again")
}

pub fn not_stored(error: &StorageError) -> Problem {
    Problem::new(format!("the model could not be stored: {error}"), "Make room under Models or on the device, then press Resume")
}

/// A copy of a file of this device is for later visits; one in memory would be of no use.
pub fn no_copy(why: &str) -> Break {
    let remedy = match why {
        STORAGE_FULL => "The file itself stays in use until this page is closed. Make room under Models or on the device, then try again",
        _ => "The file itself stays in use until this page is closed",
    };
    Break::Useless(Problem::new(format!("no copy was kept: {why}"), remedy))
}

pub fn unreadable() -> Break {
    Break::Useless(Problem::new("what was stored earlier of this model cannot be read any more", "Begin it again"))
}

pub fn file_gone() -> Break {
    Break::Useless(Problem::new("no copy was kept: the file was changed or moved while it was read", "Open it again, then try again"))
}

pub fn cannot_go_on() -> Break {
    Break::Kept(Problem::new(
        "the connection broke off, and this server cannot go on where a download stopped",
        "Press Resume to begin it again",
    ))
}

pub fn keeps_changing() -> Problem {
    Problem::new("the file on the server was replaced while it was downloaded", "Download it again later")
}
