//! Asks a server about a model's files before the download: length, version, and first bytes.

use crate::library::address::file_name;
use crate::library::download_spec::{DownloadSpec, FileSpec};
use crate::library::errors::{LibraryError, RetryCause};
use crate::library::http_response::FileVersion;
use crate::library::retry::AttemptError;
use crate::worker::http::{self, Body, abort_controller};

/// Enough for architecture, sizes and license, which come before the vocabulary.
const FIRST_BYTES: u64 = 64 << 10;

/// Facts that a server reports about one file, and its first bytes, which are not downloaded again.
pub struct FileProbe {
    pub address: String,
    pub version: FileVersion,
    pub first_bytes: Vec<u8>,
    /// Whether the server supports ranges.
    pub resumable: bool,
}

/// Requests the beginning of every file. Fails if a length is known and the server reports another one.
pub async fn probe_files(spec: &DownloadSpec) -> Result<Vec<FileProbe>, LibraryError> {
    let mut probes = Vec::new();
    for file in &spec.files {
        // Only the first file contains the sizes of the model.
        let length = if probes.is_empty() { FIRST_BYTES } else { 1 };
        let probe = probe_with_retries(&file.address, length).await.map_err(|error| in_file(spec, file, error))?;
        check_length(file.bytes, probe.version.total)?;
        probes.push(probe);
    }
    Ok(probes)
}

/// Adds the file name to the error if there are several files.
fn in_file(spec: &DownloadSpec, file: &FileSpec, error: LibraryError) -> LibraryError {
    match spec.files.len() {
        1 => error,
        n_files => LibraryError::InFile { error: Box::new(error), file: file_name(&file.address), n_files },
    }
}

/// Fails if the expected length and the reported length are both known and differ.
pub fn check_length(expected: Option<u64>, actual: Option<u64>) -> Result<(), LibraryError> {
    match (expected, actual) {
        (Some(expected), Some(actual)) if expected != actual => Err(LibraryError::OtherLength { expected, actual }),
        _ => Ok(()),
    }
}

async fn probe_with_retries(address: &str, length: u64) -> Result<FileProbe, LibraryError> {
    http::retry(async |_| attempt(address, length).await, |cause| LibraryError::before_download(address, cause)).await
}

async fn attempt(address: &str, length: u64) -> Result<FileProbe, AttemptError> {
    let (response, body) = http::get(address, 0, Some(length - 1), abort_controller()).await?;
    let (version, resumable) = response.action(0).accepted()?;
    let first_bytes = first_bytes(body, length as usize).await?;
    let total = match version.total {
        None if resumable => total_length(address).await?,
        total => total,
    };
    Ok(FileProbe { address: address.to_owned(), version: FileVersion { total, ..version }, first_bytes, resumable })
}

/// At most `length` bytes. The rest is not read.
async fn first_bytes(mut body: Body, length: usize) -> Result<Vec<u8>, RetryCause> {
    let mut bytes = Vec::new();
    while bytes.len() < length {
        let Some(chunk) = body.next().await? else { break };
        bytes.extend(chunk);
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// Total length of a file whose server hides it in range responses. Requests the whole file and does not read it.
async fn total_length(address: &str) -> Result<Option<u64>, AttemptError> {
    let (response, _) = http::get(address, 0, None, abort_controller()).await?;
    response.whole_length()
}
