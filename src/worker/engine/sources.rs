//! Model files in the browser: a local file read in place, or an address read by ranges.

use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, Request, RequestInit, Response, WorkerGlobalScope};

use crate::model::source::{ByteSource, SourceError, range_within};

/// A file at an address whose server answers range requests.
pub struct HttpSource {
    url: String,
    size: u64,
}

/// A file in the browser. One type, because all that loads a model is compiled for each.
pub enum BrowserFile {
    /// One that the visitor chose, or that had to be fetched whole; the browser keeps its bytes, not our heap.
    Blob(Blob),
    Ranges(HttpSource),
}

impl BrowserFile {
    /// The file at an address: by ranges where the server has them. Asks for the first byte, which tells that, and the size.
    pub async fn fetch(url: String) -> Result<Self, SourceError> {
        if url.starts_with("blob:") {
            return Ok(Self::Blob(whole(&url).await?));
        }
        let response = fetch_range(&url, 0, 1).await?;
        if response.status() == 206 {
            let total = response.headers().get("content-range").map_err(failed)?;
            let size = total.as_deref().and_then(|range| range.rsplit('/').next()).and_then(|total| total.parse().ok());
            return match size {
                Some(size) => Ok(Self::Ranges(HttpSource { url, size })),
                None => Err(SourceError::Read("the server does not say how large the file is".into())),
            };
        }
        Ok(Self::Blob(await_promise(response.blob()).await?))
    }
}

impl ByteSource for BrowserFile {
    fn size(&self) -> u64 {
        match self {
            Self::Blob(blob) => blob.size() as u64,
            Self::Ranges(source) => source.size,
        }
    }

    async fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>, SourceError> {
        let range = range_within(self.size(), offset, length)?;
        if length == 0 {
            return Ok(Vec::new());
        }
        let contents = match self {
            Self::Blob(blob) => blob.slice_with_f64_and_f64(range.start as f64, range.end as f64).map(|part| part.array_buffer()),
            Self::Ranges(HttpSource { url, .. }) => {
                let response = fetch_range(url, offset, length).await?;
                if response.status() != 206 {
                    return Err(SourceError::Read("the server stopped answering range requests".into()));
                }
                response.array_buffer()
            }
        };
        let buffer: ArrayBuffer = await_promise(contents).await?;
        let bytes = Uint8Array::new(&buffer).to_vec();
        if bytes.len() == length { Ok(bytes) } else { Err(SourceError::Read("it changed while it was read".into())) }
    }
}

/// A file in the browser's memory, which stays there.
async fn whole(url: &str) -> Result<Blob, SourceError> {
    let scope: WorkerGlobalScope = js_sys::global().unchecked_into();
    let response: Response = await_promise(Ok(scope.fetch_with_str(url))).await?;
    await_promise(response.blob()).await
}

async fn fetch_range(url: &str, offset: u64, length: usize) -> Result<Response, SourceError> {
    let request = Request::new_with_str_and_init(url, &RequestInit::new()).map_err(failed)?;
    let range = format!("bytes={offset}-{}", offset + length as u64 - 1);
    request.headers().set("range", &range).map_err(failed)?;
    let scope: WorkerGlobalScope = js_sys::global().unchecked_into();
    let response: Response = await_promise(Ok(scope.fetch_with_request(&request))).await?;
    if response.ok() { Ok(response) } else { Err(SourceError::Read(format!("the server answered {}", response.status()))) }
}

async fn await_promise<T: JsCast>(promise: Result<js_sys::Promise, JsValue>) -> Result<T, SourceError> {
    JsFuture::from(promise.map_err(failed)?).await.map_err(failed)?.dyn_into().map_err(failed)
}

fn failed(error: impl Into<JsValue>) -> SourceError {
    let error: JsValue = error.into();
    let message = error.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    SourceError::Read(message.unwrap_or_else(|| format!("{error:?}")))
}
