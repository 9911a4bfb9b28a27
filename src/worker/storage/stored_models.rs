//! Lists, opens and deletes the models in the browser's storage.

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, StorageEstimate, StorageManager};

use super::lock::Lock;
use super::opfs::Folder;
use crate::library::download_spec::DownloadSpec;
use crate::library::errors::{LibraryError, StorageError};
use crate::library::journal::{self, COMPLETE, Completion, JOURNAL, Journal, LAST_USED};
use crate::library::stored_models::{StorageStatus, StoredModel, StoredModels};
use crate::problem::Problem;
use crate::worker::js::{await_as, navigator, now_millis};

/// Name of a model's folder: a hash of the address of its first file.
pub fn model_id(spec: &DownloadSpec) -> String {
    let address = spec.files.first().map_or("", |file| &file.address);
    format!("{:x}", Sha256::digest(address))[..20].to_owned()
}

/// A complete model, ready to be read.
pub struct OpenedModel {
    /// Its files in order.
    pub blobs: Vec<Blob>,
    /// SHA-256 of the whole model, as verified after the download.
    pub sha256: String,
}

/// Opens a stored model and records its use.
pub async fn open(id: &str) -> Result<OpenedModel, Problem> {
    Ok(try_open(id).await?)
}

async fn try_open(id: &str) -> Result<OpenedModel, LibraryError> {
    let models = Folder::models().await.map_err(|_| LibraryError::Gone)?;
    let folder = models.open(id).await.ok_or(LibraryError::Gone)?;
    let completion: Completion = read_json(&folder, COMPLETE).await.ok_or(LibraryError::Gone)?;
    let (mut blobs, mut on_disk) = (Vec::new(), Vec::new());
    for i in 0..completion.bytes.len() {
        let file = folder.file(&journal::data_file(i)).await.ok_or(LibraryError::Gone)?;
        on_disk.push(file.size() as u64);
        blobs.push(file.into());
    }
    if !journal::is_complete(Some(&completion), &on_disk) {
        return Err(LibraryError::Damaged);
    }
    // Ignore errors, because a missing record does not affect the user.
    folder.write(LAST_USED, &now_millis().to_string()).await.ok();
    Ok(OpenedModel { blobs, sha256: completion.sha256 })
}

/// All stored models, the last used first.
pub async fn list() -> StoredModels {
    let storage = storage_status().await;
    let Ok(folder) = Folder::models().await else { return StoredModels { models: Vec::new(), storage } };
    let mut models = Vec::new();
    for id in folder.names().await {
        if let Some(folder) = folder.open(&id).await {
            models.push(describe(id, &folder).await);
        }
    }
    models.sort_by(|a, b| b.used_millis.unwrap_or(0.0).total_cmp(&a.used_millis.unwrap_or(0.0)));
    StoredModels { models, storage }
}

/// Whether a download of this model was started.
pub async fn has_journal(id: &str) -> bool {
    let Ok(models) = Folder::models().await else { return false };
    match models.open(id).await {
        Some(folder) => read_json::<Journal>(&folder, JOURNAL).await.is_some(),
        None => false,
    }
}

async fn describe(id: String, folder: &Folder) -> StoredModel {
    let journal: Option<Journal> = read_json(folder, JOURNAL).await;
    // A folder without a journal was created before the first byte, or is damaged. It can only be deleted.
    let spec = journal.map_or_else(|| DownloadSpec::at("Unknown model", vec![String::new()]), |journal| journal.spec);
    let mut on_disk = Vec::new();
    for i in 0..spec.files.len() {
        on_disk.push(folder.size(&journal::data_file(i)).await);
    }
    let completion: Option<Completion> = read_json(folder, COMPLETE).await;
    let used_millis = folder.text(LAST_USED).await.and_then(|text| text.parse().ok());
    let sha256 = completion.filter(|completion| journal::is_complete(Some(completion), &on_disk)).map(|completion| completion.sha256);
    StoredModel { id, bytes: on_disk.iter().sum(), sha256, used_millis, spec }
}

/// Deletes a model with our lock. Without a lock, another tab is downloading it.
pub async fn delete(id: &str, lock: Option<Lock>) -> Result<(), StorageError> {
    let _lock = lock.ok_or(StorageError::InUse)?;
    Folder::models().await?.delete(id).await
}

/// Parses a file. `None` if it does not exist or cannot be read.
pub async fn read_json<T: DeserializeOwned>(folder: &Folder, name: &str) -> Option<T> {
    serde_json::from_str(&folder.text(name).await?).ok()
}

pub async fn storage_status() -> StorageStatus {
    if Folder::models().await.is_err() {
        return StorageStatus::default();
    }
    let manager = navigator().storage();
    StorageStatus { is_available: true, is_persistent: is_persistent(&manager).await, free: free_bytes(&manager).await }
}

async fn free_bytes(manager: &StorageManager) -> Option<u64> {
    let estimate: StorageEstimate = await_as::<js_sys::Object>(manager.estimate().ok()?).await.ok()?.unchecked_into();
    Some((estimate.get_quota()? - estimate.get_usage()?).max(0.0) as u64)
}

async fn is_persistent(manager: &StorageManager) -> bool {
    match manager.persisted() {
        Ok(persisted) => JsFuture::from(persisted).await.is_ok_and(|persisted| persisted.is_truthy()),
        Err(_) => false,
    }
}
