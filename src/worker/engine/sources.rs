//! Model files in the browser.

use glasscage_message::{Message, message};
use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use crate::library::errors::{LibraryError, RetryCause, StorageError};
use crate::library::http_response::{FileVersion, ResponseAction};
use crate::library::retry::{Retries, RetryPolicy};
use crate::model::source::{ByteSource, SourceError, range_within};
use crate::worker::http;
use crate::worker::js::sleep;
use crate::worker::storage::sink::Sink;

/// A file in the browser's memory rather than ours: chosen by the user, from the browser's storage, or fetched.
pub struct BrowserFile(pub Blob);

impl BrowserFile {
    /// Fetches a whole file of this page. Continues where a connection broke or was silent, if the server still has the same version.
    pub async fn fetch(url: &str) -> Result<Self, LibraryError> {
        let mut partial = PartialFile { sink: Sink::in_memory(None, 0), version: FileVersion::default() };
        let mut retries = Retries::new(RetryPolicy::PREVIEW);
        loop {
            let before = partial.sink.position();
            let (cause, seconds) = match partial.read_on(url).await {
                Ok(()) => break,
                Err(ReadEnd::Failed(error)) => return Err(error),
                Err(ReadEnd::Broken { cause, seconds }) => (cause, seconds),
            };
            if partial.sink.position() > before {
                retries.reset();
            }
            match retries.delay_seconds(cause, seconds, js_sys::Math::random()) {
                Some(seconds) => sleep((1e3 * seconds) as u32).await,
                None => return Err(LibraryError::after_retries(cause)),
            }
        }
        partial.sink.into_blob().map(Self).ok_or(LibraryError::NotStored(StorageError::Full))
    }
}

/// The first bytes of a file, and the version that they belong to.
struct PartialFile {
    sink: Sink,
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

impl From<StorageError> for ReadEnd {
    fn from(error: StorageError) -> Self {
        Self::Failed(LibraryError::NotStored(error))
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
            self.restart()?;
        }
        let (response, mut body) = http::get_own(url, self.sink.position()).await?;
        match response.action(self.sink.position()) {
            ResponseAction::TakeRange(version) if self.version.is_same(&version) == Some(true) => {}
            ResponseAction::TakeWhole(version) => {
                self.restart()?;
                self.version = version;
            }
            // The server has another version now.
            ResponseAction::TakeRange(_) | ResponseAction::Fail(LibraryError::Shortened) => {
                self.restart()?;
                return Err(RetryCause::ConnectionLost.into());
            }
            ResponseAction::Retry { cause, seconds } => return Err(ReadEnd::Broken { cause, seconds }),
            ResponseAction::Fail(error) => return Err(ReadEnd::Failed(error)),
        }
        while let Some(bytes) = body.next().await? {
            self.sink.write(&bytes)?;
        }
        if self.is_whole() || self.version.total.is_none() { Ok(()) } else { Err(RetryCause::ConnectionLost.into()) }
    }

    /// Whether all bytes are here, if the length is known.
    fn is_whole(&self) -> bool {
        self.version.total == Some(self.sink.position())
    }

    fn restart(&mut self) -> Result<(), StorageError> {
        self.version = FileVersion::default();
        self.sink.restart()
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
