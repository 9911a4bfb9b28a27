//! Model files in the browser.

use glasscage_message::{Message, message};
use js_sys::{Array, ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use crate::library::errors::{LibraryError, RetryCause};
use crate::library::http_response::{FileVersion, ResponseAction};
use crate::library::retry::{Retries, RetryPolicy};
use crate::model::source::{ByteSource, SourceError, range_within};
use crate::worker::http;
use crate::worker::js::{sleep, storage_error};

/// A file in the browser's memory rather than ours: chosen by the user, from the browser's storage, or fetched.
pub struct BrowserFile(pub Blob);

impl BrowserFile {
    /// Fetches a whole file of this page. Continues where a connection broke or was silent, if the server still has the same version.
    pub async fn fetch(url: &str) -> Result<Self, LibraryError> {
        let mut partial = PartialFile::default();
        let mut retries = Retries::new(RetryPolicy::PREVIEW);
        loop {
            let before = partial.position;
            let (cause, seconds) = match partial.read_on(url).await {
                Ok(()) => break,
                Err(ReadEnd::Failed(error)) => return Err(error),
                Err(ReadEnd::Broken { cause, seconds }) => (cause, seconds),
            };
            if partial.position > before {
                retries.reset();
            }
            match retries.delay_seconds(cause, seconds, js_sys::Math::random()) {
                Some(seconds) => sleep((1e3 * seconds) as u32).await,
                None => return Err(LibraryError::after_retries(cause)),
            }
        }
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

/// Why the rest of a file did not arrive.
enum ReadEnd {
    /// Another request may succeed. The server may request a delay in seconds.
    Broken {
        cause: RetryCause,
        seconds: Option<f64>,
    },
    Failed(LibraryError),
}

impl From<RetryCause> for ReadEnd {
    fn from(cause: RetryCause) -> Self {
        Self::Broken { cause, seconds: None }
    }
}

impl PartialFile {
    /// Requests the missing bytes, and appends them while they arrive.
    async fn read_on(&mut self, url: &str) -> Result<(), ReadEnd> {
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
            ResponseAction::Retry { cause, seconds } => return Err(ReadEnd::Broken { cause, seconds }),
            ResponseAction::Fail(error) => return Err(ReadEnd::Failed(error)),
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
