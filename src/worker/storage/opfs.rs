//! The browser's origin private file system (OPFS): folders and files by name.

use js_sys::{AsyncIterator, IteratorNext, Promise, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    File, FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetDirectoryOptions, FileSystemGetFileOptions,
    FileSystemReadWriteOptions, FileSystemRemoveOptions, FileSystemSyncAccessHandle,
};

use crate::library::errors::StorageError;
use crate::worker::js::{await_as, error_name, navigator, storage_error};

/// Folder of all models in the storage of the site.
const MODELS: &str = "models";

/// A folder of the private file system.
pub struct Folder(FileSystemDirectoryHandle);

impl Folder {
    /// Opens the folder of all models, or creates it.
    pub async fn models() -> Result<Self, StorageError> {
        let has_storage = js_sys::Reflect::get(&navigator(), &"storage".into()).is_ok_and(|storage| storage.is_object());
        if !has_storage {
            return Err(StorageError::Denied(String::new()));
        }
        Self(await_as(navigator().storage().get_directory()).await.map_err(storage_error)?).open_or_create(MODELS).await
    }

    /// Opens the subfolder `name`, or creates it.
    pub async fn open_or_create(&self, name: &str) -> Result<Self, StorageError> {
        let options = FileSystemGetDirectoryOptions::new();
        options.set_create(true);
        await_as(self.0.get_directory_handle_with_options(name, &options)).await.map(Self).map_err(storage_error)
    }

    /// Opens the subfolder `name`, if it exists.
    pub async fn open(&self, name: &str) -> Option<Self> {
        await_as(self.0.get_directory_handle(name)).await.ok().map(Self)
    }

    /// Names of all files and subfolders.
    pub async fn names(&self) -> Vec<String> {
        let entries: AsyncIterator = self.0.keys();
        let mut names = Vec::new();
        while let Ok(next) = entries.next() {
            let Ok(next) = JsFuture::from(next).await.map(|next| next.unchecked_into::<IteratorNext>()) else { break };
            match next.value().as_string().filter(|_| !next.done()) {
                Some(name) => names.push(name),
                None => break,
            }
        }
        names
    }

    /// The file `name`, for reading.
    pub async fn file(&self, name: &str) -> Option<File> {
        let handle: FileSystemFileHandle = await_as(self.0.get_file_handle(name)).await.ok()?;
        await_as(handle.get_file()).await.ok()
    }

    /// Length of the file `name`, or 0 if it does not exist.
    pub async fn size(&self, name: &str) -> u64 {
        self.file(name).await.map_or(0, |file| file.size() as u64)
    }

    pub async fn text(&self, name: &str) -> Option<String> {
        let text: Promise = self.file(name).await?.text();
        JsFuture::from(text).await.ok()?.as_string()
    }

    /// Opens the file `name` for writing, and locks it until the writer is dropped.
    pub async fn writer(&self, name: &str) -> Result<Writer, StorageError> {
        let options = FileSystemGetFileOptions::new();
        options.set_create(true);
        let handle: FileSystemFileHandle = await_as(self.0.get_file_handle_with_options(name, &options)).await.map_err(storage_error)?;
        await_as(handle.create_sync_access_handle()).await.map(Writer).map_err(storage_error)
    }

    /// Replaces the content of the file `name`.
    pub async fn write(&self, name: &str, text: &str) -> Result<(), StorageError> {
        let writer = self.writer(name).await?;
        writer.write_at(0, text.as_bytes())?;
        writer.truncate(text.len() as u64)?;
        writer.flush()
    }

    /// Deletes the file or folder `name` with its content. Succeeds if it does not exist.
    pub async fn delete(&self, name: &str) -> Result<(), StorageError> {
        let options = FileSystemRemoveOptions::new();
        options.set_recursive(true);
        match JsFuture::from(self.0.remove_entry_with_options(name, &options)).await {
            Err(error) if error_name(&error) != "NotFoundError" => Err(storage_error(error)),
            _ => Ok(()),
        }
    }
}

/// An open file. Dropping it closes the file.
pub struct Writer(FileSystemSyncAccessHandle);

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Writer {
    pub fn size(&self) -> Result<u64, StorageError> {
        self.0.get_size().map(|size| size as u64).map_err(storage_error)
    }

    /// Writes all of `bytes`. An incomplete write means that the storage is full.
    pub fn write_at(&self, position: u64, bytes: &[u8]) -> Result<(), StorageError> {
        let written = self.0.write_with_u8_array_and_options(bytes, &at(position)).map_err(storage_error)?;
        if written as usize == bytes.len() { Ok(()) } else { Err(StorageError::Full) }
    }

    /// Reads at most `length` bytes, starting at `position`.
    pub fn read_at(&self, position: u64, length: usize) -> Result<Vec<u8>, StorageError> {
        let buffer = Uint8Array::new_with_length(length as u32);
        let read = self.0.read_with_js_u8_array_and_options(&buffer, &at(position)).map_err(storage_error)?;
        Ok(buffer.subarray(0, read as u32).to_vec())
    }

    /// Truncates the file to `size` bytes.
    pub fn truncate(&self, size: u64) -> Result<(), StorageError> {
        self.0.truncate_with_f64(size as f64).map_err(storage_error)
    }

    /// Returns when the written bytes are on disk and survive a power loss.
    pub fn flush(&self) -> Result<(), StorageError> {
        self.0.flush().map_err(storage_error)
    }
}

fn at(position: u64) -> FileSystemReadWriteOptions {
    let options = FileSystemReadWriteOptions::new();
    options.set_at_f64(position as f64);
    options
}
