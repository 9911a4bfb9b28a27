//! The models in the browser's storage: what there is, loading one, deleting one.

use js_sys::Reflect;
use sha2::{Digest, Sha256};
use web_sys::{Blob, StorageEstimate};

use super::js::{StorageError, navigator, now_millis, settled};
use super::lock::Lock;
use super::opfs::Folder;
use crate::library::journal::{self, COMPLETE, Complete, JOURNAL, Journal, USED};
use crate::library::messages::{Kept, Shelf, Storage, Wanted};
use crate::problem::Problem;

/// The name of a model's folder: by the address of its first part.
pub fn id(wanted: &Wanted) -> String {
    let address = wanted.parts.first().map_or("", |part| &part.address);
    Sha256::digest(address).iter().take(10).map(|byte| format!("{byte:02x}")).collect()
}

/// A whole model, ready to be read.
pub struct Whole {
    /// Its parts in order.
    pub blobs: Vec<Blob>,
    /// Of all of it, as it was verified.
    pub sha256: String,
}

/// Opens a model that is kept, and notes that it was used.
pub async fn open(id: &str) -> Result<Whole, Problem> {
    let gone = || Problem::new("this model is not kept on this device any more", "Download it again, or choose another one");
    let folder = Folder::of_models().await.ok().ok_or_else(gone)?.folder(id).await.ok_or_else(gone)?;
    let complete: Complete = json(&folder, COMPLETE).await.ok_or_else(gone)?;
    let (mut blobs, mut on_disk) = (Vec::new(), Vec::new());
    for i in 0..complete.bytes.len() {
        let file = folder.file(&journal::data(i)).await.ok_or_else(gone)?;
        on_disk.push(file.size() as u64);
        blobs.push(file.into());
    }
    if !journal::is_complete(Some(&complete), &on_disk) {
        return Err(Problem::new("this model is damaged: a part of it is missing", "Delete it under Models and download it again"));
    }
    // Whether the use can be noted changes nothing for the visitor.
    folder.write(USED, &now_millis().to_string()).await.ok();
    Ok(Whole { blobs, sha256: complete.sha256 })
}

/// Everything that is kept, the last used first.
pub async fn list() -> Shelf {
    let storage = storage().await;
    let Ok(models) = Folder::of_models().await else { return Shelf { models: Vec::new(), storage } };
    let mut kept = Vec::new();
    for id in models.names().await {
        if let Some(folder) = models.folder(&id).await {
            kept.push(describe(id, &folder).await);
        }
    }
    kept.sort_by(|a, b| b.used_millis.unwrap_or(0.0).total_cmp(&a.used_millis.unwrap_or(0.0)));
    Shelf { models: kept, storage }
}

/// Whether a download of this model was begun.
pub async fn has_journal(id: &str) -> bool {
    let Ok(models) = Folder::of_models().await else { return false };
    match models.folder(id).await {
        Some(folder) => json::<Journal>(&folder, JOURNAL).await.is_some(),
        None => false,
    }
}

async fn describe(id: String, folder: &Folder) -> Kept {
    let journal: Option<Journal> = json(folder, JOURNAL).await;
    // A folder without a journal was left before its first byte, or is damaged: it can only be deleted.
    let wanted = journal.map_or_else(|| Wanted::at("Unknown model", vec![String::new()]), |journal| journal.wanted);
    let mut on_disk = Vec::new();
    for i in 0..wanted.parts.len() {
        on_disk.push(folder.size(&journal::data(i)).await);
    }
    let complete: Option<Complete> = json(folder, COMPLETE).await;
    let used_millis = folder.text(USED).await.and_then(|text| text.parse().ok());
    let sha256 = complete.filter(|complete| journal::is_complete(Some(complete), &on_disk)).map(|complete| complete.sha256);
    Kept { id, bytes: on_disk.iter().sum(), sha256, used_millis, wanted }
}

/// Deletes a model whose lock is ours; without one another tab is downloading it.
pub async fn delete(id: &str, lock: Option<Lock>) -> Result<(), StorageError> {
    let _lock = lock.ok_or(StorageError::InUse)?;
    Folder::of_models().await?.delete(id).await
}

/// What the file says, where it is there and whole.
pub async fn json<T: serde::de::DeserializeOwned>(folder: &Folder, name: &str) -> Option<T> {
    serde_json::from_str(&folder.text(name).await?).ok()
}

pub async fn storage() -> Storage {
    let is_open = Folder::of_models().await.is_ok();
    if !is_open {
        return Storage::default();
    }
    let manager = navigator().storage();
    let estimate = match manager.estimate() {
        Ok(estimate) => settled::<js_sys::Object>(estimate).await.ok().map(wasm_bindgen::JsCast::unchecked_into::<StorageEstimate>),
        Err(_) => None,
    };
    let free = estimate.and_then(|estimate| Some((estimate.get_quota()? - estimate.get_usage()?).max(0.0) as u64));
    let is_persistent = match manager.persisted() {
        Ok(persisted) => wasm_bindgen_futures::JsFuture::from(persisted).await.is_ok_and(|persisted| persisted.is_truthy()),
        Err(_) => false,
    };
    Storage { is_open, is_persistent, free }
}

/// Main memory in bytes, where the browser tells.
pub fn device_memory() -> Option<u64> {
    let gigabytes = Reflect::get(&navigator(), &"deviceMemory".into()).ok()?.as_f64()?;
    Some((gigabytes * 1e9) as u64)
}
