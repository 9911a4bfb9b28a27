//! Downloads the files in order, from the first missing file to the complete model.

use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::{Blob, Url};

use super::stop::{hexadecimal, verify};
use super::{Download, DownloadStop, FileTransfer, not_stored};
use crate::library::download_spec::DownloadSpec;
use crate::library::errors::{LibraryError, NoStorage, StorageError};
use crate::library::journal::{self, COMPLETE, Completion, JOURNAL, Journal};
use crate::library::stored_models::ModelLocation;
use crate::worker::js::storage_error;
use crate::worker::storage::opfs::Folder;
use crate::worker::storage::stored_models;

impl Download {
    /// Runs until the model is complete or a [`DownloadStop`] ends it.
    pub async fn run(&mut self) -> Result<ModelLocation, DownloadStop> {
        let result = self.all_files().await;
        if let Err(DownloadStop::Discarded(_)) = result {
            self.delete().await;
        }
        result
    }

    async fn open_folder(&mut self) -> Result<(), DownloadStop> {
        match Self::folder(&self.id, &self.spec).await {
            Ok(folder) => {
                self.folder = Some(folder);
                self.write_journal().await
            }
            Err(StorageError::InUse) => Err(DownloadStop::Interrupted(LibraryError::InUse)),
            Err(StorageError::Full) => self.fall_back_to_memory(NoStorage::Full),
            Err(StorageError::Denied(_)) => self.fall_back_to_memory(NoStorage::Unavailable),
        }
    }

    /// The model's folder. Empties it if it contains another version.
    async fn folder(id: &str, spec: &DownloadSpec) -> Result<Folder, StorageError> {
        let models = Folder::models().await?;
        let folder = models.open_or_create(id).await?;
        let journal: Option<Journal> = stored_models::read_json(&folder, JOURNAL).await;
        if journal.is_some_and(|journal| journal.continues(spec)) {
            return Ok(folder);
        }
        drop(folder);
        models.delete(id).await?;
        models.open_or_create(id).await
    }

    async fn all_files(&mut self) -> Result<ModelLocation, DownloadStop> {
        if !self.is_in_memory() {
            self.open_folder().await?;
        }
        while self.completed_bytes.len() < self.spec.files.len() {
            let mut transfer = match self.interrupted.take() {
                Some(transfer) => transfer,
                None => self.open_file(self.completed_bytes.len()).await?,
            };
            if let Err(stop) = self.transfer_rest(&mut transfer).await {
                self.interrupted = Some(transfer).filter(|transfer| transfer.sink.is_in_memory());
                return Err(stop);
            }
            self.complete_file(transfer)?;
        }
        match &self.folder {
            Some(folder) if self.blobs.length() == 0 => {
                let completion = Completion { bytes: self.completed_bytes.clone(), sha256: hexadecimal(self.hash.clone()) };
                let json = serde_json::to_string(&completion).expect("plain data");
                folder.write(COMPLETE, &json).await.map_err(not_stored)?;
                Ok(ModelLocation::Stored(self.id.clone()))
            }
            _ => self.as_one_blob().await,
        }
    }

    fn complete_file(&mut self, transfer: FileTransfer) -> Result<(), DownloadStop> {
        let bytes = transfer.sink.position();
        transfer.header.finish(bytes).map_err(DownloadStop::Discarded)?;
        verify(self.spec.files[transfer.i].sha256.as_deref(), transfer.hash)?;
        let blob = transfer.sink.into_blob().map_err(|error| {
            // The bytes in memory are lost, so the file is downloaded again.
            self.hash = transfer.hash_before;
            not_stored(error)
        })?;
        self.blobs.extend(blob);
        self.completed_bytes.push(bytes);
        Ok(())
    }

    /// Combines files from storage and from memory under one object URL.
    async fn as_one_blob(&self) -> Result<ModelLocation, DownloadStop> {
        let all = Array::new();
        for i in 0..self.completed_bytes.len() - self.blobs.length() as usize {
            let file = match &self.folder {
                Some(folder) => folder.file(&journal::data_file(i)).await,
                None => None,
            };
            let complete = file.filter(|file| file.size() == self.completed_bytes[i] as f64);
            let complete: JsValue = complete.ok_or(DownloadStop::Discarded(LibraryError::StoredFileUnreadable))?.into();
            all.push(&complete);
        }
        let all = all.concat(&self.blobs);
        let url = Blob::new_with_blob_sequence(&all).and_then(|blob| Url::create_object_url_with_blob(&blob));
        url.map(ModelLocation::Memory).map_err(|error| not_stored(storage_error(error)))
    }

    async fn delete(&self) {
        if let Ok(models) = Folder::models().await {
            // A folder that cannot be deleted now is listed under Models, where the user can delete it.
            models.delete(&self.id).await.ok();
        }
    }
}
