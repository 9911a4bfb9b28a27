//! Model files in the browser.

use glasscage_message::{Message, message};
use js_sys::{Array, ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use crate::library::errors::{LibraryError, RetryCause};
use crate::library::http_response::{FileVersion, ResponseAction};
use crate::library::retry::{AttemptError, Retries};
use crate::model::source::{ByteSource, SourceError, range_within};
use crate::worker::http;
use crate::worker::js::storage_error;

/// A file in the browser's memory rather than ours: chosen by the user, from the browser's storage, or fetched.
pub struct BrowserFile(pub Blob);

impl BrowserFile {
    /// Fetches a whole file of this page. Continues where a connection broke or was silent, if the server still has the same version.
    pub async fn fetch(url: &str) -> Result<Self, LibraryError> {
        let mut partial = PartialFile::default();
        let attempt = async |retries: &mut Retries| {
            let before = partial.position;
            let read = partial.read_on(url).await;
            if partial.position > before {
                retries.reset();
            }
            read
        };
        http::retry(attempt, LibraryError::after_retries).await?;
        let blob = Blob::new_with_u8_array_sequence(&partial.chunks);
        blob.map(Self).map_err(|error| LibraryError::NotStored(storage_error(error)))
    }
}

/// The first bytes of a file, and the version that they belong to. They stay in the browser's memory.
#[derive(Default)]
struct PartialFile {
    chunks: Array,
    /// Number of bytes.
    position: u64,
    version: FileVersion,
}

impl PartialFile {
    /// Requests the missing bytes, and appends them while they arrive.
    async fn read_on(&mut self, url: &str) -> Result<(), AttemptError> {
        if self.is_whole() {
            return Ok(());
        }
        if !self.version.is_known() {
            // Nothing would prove that further bytes belong to these.
            *self = Self::default();
        }
        let (response, mut body) = http::get_own(url, self.position).await?;
        match response.action(self.position) {
            ResponseAction::TakeRange(version) if self.version.is_same(&version) == Some(true) => {}
            ResponseAction::TakeWhole(version) => {
                *self = Self::default();
                self.version = version;
            }
            // The server has another version now.
            ResponseAction::TakeRange(_) | ResponseAction::Fail(LibraryError::Shortened) => {
                *self = Self::default();
                return Err(RetryCause::ConnectionLost.into());
            }
            other => drop(other.accepted()?),
        }
        while let Some(bytes) = body.next_array().await? {
            self.position += u64::from(bytes.length());
            self.chunks.push(&bytes);
        }
        if self.is_whole() || self.version.total.is_none() { Ok(()) } else { Err(RetryCause::ConnectionLost.into()) }
    }

    /// Whether all bytes are here, if the length is known.
    fn is_whole(&self) -> bool {
        self.version.total == Some(self.position)
    }
}

impl ByteSource for BrowserFile {
    fn size(&self) -> u64 {
        self.0.size() as u64
    }

    async fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>, SourceError> {
        let range = range_within(self.size(), offset, length)?;
        if length == 0 {
            return Ok(Vec::new());
        }
        let part = self.0.slice_with_f64_and_f64(range.start as f64, range.end as f64).map_err(failed)?;
        let buffer: ArrayBuffer = await_promise(Ok(part.array_buffer())).await?;
        let bytes = Uint8Array::new(&buffer).to_vec();
        if bytes.len() == length { Ok(bytes) } else { Err(SourceError::Read(message!("it changed while it was read"))) }
    }
}

async fn await_promise<T: JsCast>(promise: Result<js_sys::Promise, JsValue>) -> Result<T, SourceError> {
    JsFuture::from(promise.map_err(failed)?).await.map_err(failed)?.dyn_into().map_err(failed)
}

fn failed(error: impl Into<JsValue>) -> SourceError {
    let error: JsValue = error.into();
    let message = error.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    SourceError::Read(Message::verbatim(&message.unwrap_or_else(|| format!("{error:?}"))))
}
