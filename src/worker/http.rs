//! One GET request for a file or a range of it. The response is a stream that can be aborted and that detects stalls.

use futures::future::{Either, select};
use js_sys::{IteratorNext, Reflect, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, ReadableStreamDefaultReader, Request, RequestCache, RequestInit, Response};

use crate::library::errors::{LibraryError, RetryCause};
use crate::library::http_response::HttpResponse;
use crate::library::retry::{AttemptError, Retries, RetryPolicy};
use crate::worker::js::{await_as, now_millis, scope, sleep};

/// Time without data after which a transfer counts as stalled.
const STALLED_MILLIS: u32 = 30_000;

/// The body of a response. Dropping it aborts the request.
pub struct Body {
    reader: Option<ReadableStreamDefaultReader>,
    controller: AbortController,
}

impl Drop for Body {
    fn drop(&mut self) {
        self.controller.abort();
    }
}

pub fn abort_controller() -> AbortController {
    AbortController::new().expect("every browser with WebAssembly has it")
}

/// Requests the bytes `first..=last` of a file, or all from `first` on if `last` is unknown. Follows redirects.
///
/// A `bytes=a-b` header needs no preflight request, which file servers often refuse. Bypasses the browser's cache, because it would store
/// the model a second time.
pub async fn get(address: &str, first: u64, last: Option<u64>, controller: AbortController) -> Result<(HttpResponse, Body), RetryCause> {
    let range = format!("bytes={first}-{}", last.map_or(String::new(), |last| last.to_string()));
    send(address, Some(&range), RequestCache::NoStore, controller).await
}

/// Requests a file of this page from the byte `first` on. The browser's cache may answer and may keep a whole file.
pub async fn get_own(address: &str, first: u64) -> Result<(HttpResponse, Body), RetryCause> {
    let range = (first > 0).then(|| format!("bytes={first}-"));
    send(address, range.as_deref(), RequestCache::Default, abort_controller()).await
}

/// Repeats `attempt` within the limits for previews. `attempt` clears its failures when bytes arrive. `exhausted` is the error after the
/// last attempt.
pub async fn retry<T>(
    mut attempt: impl AsyncFnMut(&mut Retries) -> Result<T, AttemptError>,
    exhausted: impl Fn(RetryCause) -> LibraryError,
) -> Result<T, LibraryError> {
    let mut retries = Retries::new(RetryPolicy::PREVIEW);
    loop {
        let (cause, seconds) = match attempt(&mut retries).await {
            Ok(value) => return Ok(value),
            Err(AttemptError::Fail(error)) => return Err(error),
            Err(AttemptError::Retry { cause, seconds }) => (cause, seconds),
        };
        match retries.delay_seconds(cause, seconds, js_sys::Math::random()) {
            Some(seconds) => sleep((1e3 * seconds) as u32).await,
            None => return Err(exhausted(cause)),
        }
    }
}

async fn send(
    address: &str,
    range: Option<&str>,
    cache: RequestCache,
    controller: AbortController,
) -> Result<(HttpResponse, Body), RetryCause> {
    let init = RequestInit::new();
    init.set_cache(cache);
    init.set_signal(Some(&controller.signal()));
    let unreachable = |_| RetryCause::Unreachable;
    Reflect::set(&init, &"referrerPolicy".into(), &"no-referrer".into()).map_err(unreachable)?;
    let request = Request::new_with_str_and_init(address, &init).map_err(unreachable)?;
    if let Some(range) = range {
        request.headers().set("range", range).map_err(unreachable)?;
    }
    let mut body = Body { reader: None, controller };
    let fetched = await_as::<Response>(scope().fetch_with_request(&request));
    let response = match select(Box::pin(fetched), Box::pin(sleep(STALLED_MILLIS))).await {
        Either::Left((response, _)) => response.map_err(unreachable)?,
        Either::Right(_) => return Err(RetryCause::NoAnswer),
    };
    body.reader = response.body().map(|stream| stream.get_reader().unchecked_into());
    Ok((described(&response), body))
}

fn described(response: &Response) -> HttpResponse {
    let header = |name: &str| response.headers().get(name).ok().flatten();
    // Length and tag of a compressed response are not those of the file.
    let of_file = |name: &str| header(name).filter(|_| header("content-encoding").is_none());
    HttpResponse {
        status: response.status(),
        content_range: header("content-range"),
        content_length: of_file("content-length").and_then(|length| length.parse().ok()),
        etag: of_file("etag"),
        last_modified: header("last-modified"),
        retry_after: header("retry-after"),
        now_millis: now_millis(),
    }
}

impl Body {
    /// The next bytes, or `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, RetryCause> {
        Ok(self.next_array().await?.map(|bytes| bytes.to_vec()))
    }

    /// Like [`Self::next`], but the bytes stay in the browser's memory.
    pub async fn next_array(&mut self) -> Result<Option<Uint8Array>, RetryCause> {
        let Some(reader) = &self.reader else { return Ok(None) };
        let read = match select(JsFuture::from(reader.read()), Box::pin(sleep(STALLED_MILLIS))).await {
            Either::Left((read, _)) => read.map_err(|_| RetryCause::ConnectionLost)?,
            Either::Right(_) => return Err(RetryCause::Stalled),
        };
        let read: IteratorNext = read.unchecked_into();
        Ok((!read.done()).then(|| read.value().unchecked_into()))
    }
}
