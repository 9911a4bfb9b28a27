//! Description of the models in the browser's storage.

use serde::{Deserialize, Serialize};

use super::download_spec::DownloadSpec;

/// The models stored on this device, the last used first, and the status of the storage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredModels {
    pub models: Vec<StoredModel>,
    pub storage: StorageStatus,
}

/// One stored model, complete or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredModel {
    pub id: String,
    pub spec: DownloadSpec,
    /// Bytes stored so far.
    pub bytes: u64,
    /// Verified SHA-256 of all bytes; `None` while the model is incomplete.
    pub sha256: Option<String>,
    /// Time of the last load, in milliseconds since 1970.
    pub used_millis: Option<f64>,
}

impl StoredModel {
    pub fn is_complete(&self) -> bool {
        self.sha256.is_some()
    }

    /// Whether a download can continue it. A copy cannot, because its file must be opened again. A model without a readable journal cannot
    /// either.
    pub fn is_resumable(&self) -> bool {
        !self.is_complete() && !self.spec.is_local_copy() && self.spec.files.iter().all(|file| !file.address.is_empty())
    }
}

/// The browser's storage for this site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageStatus {
    /// Whether the browser lets the page store anything.
    pub is_available: bool,
    /// Whether the browser must not delete the data to free space.
    pub is_persistent: bool,
    /// Approximate free space in bytes.
    pub free: Option<u64>,
}

/// Location of a complete model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelLocation {
    /// In the browser's storage, under this id.
    Stored(String),
    /// In memory until the page is closed, at this object URL.
    Memory(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::download_spec::FileSpec;

    fn stored(files: Vec<FileSpec>, sha256: Option<&str>) -> StoredModel {
        let spec = DownloadSpec { name: "c".into(), files };
        StoredModel { id: "1".into(), spec, bytes: 5, sha256: sha256.map(str::to_owned), used_millis: None }
    }

    #[test]
    fn incomplete_download_with_known_addresses_is_resumable() {
        let published = || FileSpec { address: "https://a.b/c.gguf".into(), ..FileSpec::default() };
        let begun = stored(vec![published()], None);
        assert!(begun.is_resumable() && !begun.is_complete());
        let complete = stored(vec![published()], Some("ab"));
        assert!(complete.is_complete() && !complete.is_resumable());
        for files in [vec![FileSpec::local("c.gguf", 9, 1.5)], vec![published(), FileSpec::default()]] {
            assert!(!stored(files.clone(), None).is_resumable(), "{files:?}");
        }
    }
}
