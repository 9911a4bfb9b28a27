//! Why a download stops early, and what happens to its bytes.

use sha2::{Digest, Sha256};

use crate::library::errors::LibraryError;

pub enum DownloadStop {
    /// The user paused it.
    Paused,
    /// The downloaded bytes are kept.
    Interrupted(LibraryError),
    /// The downloaded bytes are useless and are deleted.
    Discarded(LibraryError),
}

/// Fails if the expected hash is known and the bytes have another hash.
pub fn verify(expected: Option<&str>, hash: Sha256) -> Result<(), DownloadStop> {
    let sha256 = hexadecimal(hash);
    match expected {
        Some(expected) if expected != sha256 => Err(DownloadStop::Discarded(LibraryError::WrongHash { sha256 })),
        _ => Ok(()),
    }
}

pub fn hexadecimal(hash: Sha256) -> String {
    format!("{:x}", hash.finalize())
}
