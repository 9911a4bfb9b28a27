//! SHA-256, as pinned downloads and the service worker name it.

use sha2::{Digest, Sha256};

/// In lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
