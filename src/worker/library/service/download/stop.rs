//! Why a download stops before its end, and what becomes of the bytes so far.

use sha2::{Digest, Sha256};

use crate::library::errors::LibraryError;

pub enum DownloadStop {
    /// By the visitor.
    Paused,
    /// What was downloaded is kept.
    Interrupted(LibraryError),
    /// What was downloaded is of no use and is deleted.
    Discarded(LibraryError),
}

/// Fails where the hash that was expected is known and the bytes have another one.
pub fn verify(expected: Option<&str>, hash: Sha256) -> Result<(), DownloadStop> {
    let sha256 = hexadecimal(hash);
    match expected {
        Some(expected) if expected != sha256 => Err(DownloadStop::Discarded(LibraryError::WrongHash { sha256 })),
        _ => Ok(()),
    }
}

pub fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
