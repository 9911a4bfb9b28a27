//! Model files in the browser.

use glasscage_message::{Message, message};
use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, Response, WorkerGlobalScope};

use crate::model::source::{ByteSource, SourceError, range_within};

/// A file in the browser's memory rather than ours: chosen by the user, from the browser's storage, or fetched.
pub struct BrowserFile(pub Blob);

impl BrowserFile {
    /// Fetches a whole file.
    pub async fn fetch(url: &str) -> Result<Self, SourceError> {
        let scope: WorkerGlobalScope = js_sys::global().unchecked_into();
        let response: Response = await_promise(Ok(scope.fetch_with_str(url))).await?;
        if !response.ok() {
            return Err(SourceError::Read(message!("the server answered {status}", status = response.status())));
        }
        Ok(Self(await_promise(response.blob()).await?))
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
