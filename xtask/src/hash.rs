//! SHA-256 for pinned downloads and for the service worker.

use sha2::{Digest, Sha256};

/// Lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
