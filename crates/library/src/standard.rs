//! Glasscage Standard: the model for the visitor's own texts. The site of the page serves it in three parts.

use super::address::all_parts;
use super::download_spec::{DownloadSpec, FileSpec};
use super::fit::{can_be_stored, memory_needed};
use super::preview::ModelPreview;

pub const NAME: &str = "Glasscage Standard";
/// Address of the first part, relative to the page.
pub const FIRST_PART: &str = "models/standard/standard-00001-of-00003.gguf";
pub const PARAMETERS: u64 = 110_922_048;
/// Size in bytes and SHA-256 of each part.
const PARTS: [(u64, &str); 3] = [
    (24_243_104, "bfd5a4f4595c946a10c5f1d64269092c7d155d052d9a364b988343df1b58a6b1"),
    (23_949_728, "cd96b0e7f58c991e01b91b860f9ad0d065afe7e15427534c0826b3c3e52f116e"),
    (16_964_352, "f1f9954a54052655a6bc6d7cb285b63917952c6343fdf0393e794f81a69f21f7"),
];

/// Why a device cannot hold the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Memory,
    Storage,
}

/// The download of the model, from the absolute address of its first part.
pub fn spec(first_part: &str) -> DownloadSpec {
    let files = all_parts(first_part).into_iter().zip(PARTS);
    let file = |(address, (bytes, sha256)): (String, (u64, &str))| FileSpec {
        address,
        bytes: Some(bytes),
        sha256: Some(sha256.into()),
        object_url: None,
    };
    DownloadSpec { name: NAME.into(), files: files.map(file).collect() }
}

/// Returns `None` if this device has enough memory and storage, or does not state how much it has.
pub fn obstacle(ModelPreview { spec, facts, device, bytes_here, .. }: &ModelPreview) -> Option<Obstacle> {
    let bytes = spec.bytes().unwrap_or(0);
    if device.memory.is_some_and(|memory| memory_needed(bytes, facts, facts.context_length) > memory) {
        return Some(Obstacle::Memory);
    }
    (!can_be_stored(bytes.saturating_sub(*bytes_here), device)).then_some(Obstacle::Storage)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sha2::{Digest, Sha256};

    use super::*;
    use crate::preview::{DeviceFacts, ModelFacts};
    use crate::stored_models::StorageStatus;

    #[test]
    fn parts_match_the_files_of_the_site() {
        let public = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public");
        for file in spec(FIRST_PART).files {
            let bytes = std::fs::read(public.join(&file.address)).expect("the part is in the checkout");
            let sha256: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!((file.bytes, file.sha256), (Some(bytes.len() as u64), Some(sha256)), "{}", file.address);
            assert!(bytes.len() <= 24 << 20, "hosts refuse files of more than 25 MB");
        }
    }

    #[test]
    fn a_device_without_memory_or_storage_cannot_hold_it() {
        let storage = StorageStatus { is_available: true, is_persistent: false, free: Some(65_157_184) };
        let facts = ModelFacts { context_length: 1024, bytes_per_token: 46_080, ..ModelFacts::default() };
        let device = DeviceFacts { gpu: None, memory: Some(1_000_000_000), storage };
        let fits = ModelPreview { spec: spec(FIRST_PART), resumable: true, facts, device, bytes_here: 0 };
        assert_eq!(obstacle(&fits), None);
        let mut small = fits.clone();
        small.device.memory = Some(180_000_000);
        assert_eq!(obstacle(&small), Some(Obstacle::Memory));
        let mut full = fits.clone();
        full.device.storage.free = Some(60_000_000);
        assert_eq!(obstacle(&full), Some(Obstacle::Storage));
        full.bytes_here = 10_000_000;
        assert_eq!(obstacle(&full), None, "a part of it is here already");
        full.device.storage = StorageStatus::default();
        assert_eq!(obstacle(&full), Some(Obstacle::Storage), "a private window stores nothing");
    }
}
