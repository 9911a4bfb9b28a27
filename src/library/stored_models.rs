//! What the browser's storage holds.

use serde::{Deserialize, Serialize};

use super::download_spec::DownloadSpec;

/// The models stored on this device, the last used first, and the storage they are in.
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
    /// Stored so far.
    pub bytes: u64,
    /// Of all its bytes, as it was verified; `None` while it is incomplete.
    pub sha256: Option<String>,
    /// When it was last loaded, in milliseconds since 1970.
    pub used_millis: Option<f64>,
}

impl StoredModel {
    pub fn is_complete(&self) -> bool {
        self.sha256.is_some()
    }

    /// Whether a download can go on with it: not a copy, whose file must be opened again, and not one without a readable journal.
    pub fn is_resumable(&self) -> bool {
        !self.is_complete() && !self.spec.is_local_copy() && self.spec.files.iter().all(|file| !file.address.is_empty())
    }
}

/// The browser's storage for this site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageStatus {
    /// Whether the browser lets the page store anything.
    pub is_available: bool,
    /// Whether the browser may not delete it to make room.
    pub is_persistent: bool,
    /// About what may still be stored, in bytes.
    pub free: Option<u64>,
}

/// Where a complete model is.
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
    use crate::library::download_spec::FileSpec;

    fn stored(files: Vec<FileSpec>, sha256: Option<&str>) -> StoredModel {
        let spec = DownloadSpec { name: "c".into(), files };
        StoredModel { id: "1".into(), spec, bytes: 5, sha256: sha256.map(str::to_owned), used_millis: None }
    }

    #[test]
    fn a_download_goes_on_where_all_of_its_addresses_are_known() {
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
