//! One GET of a part of a file, as a stream that can be ended and that says when it stalls.

use futures::future::{Either, select};
use js_sys::{IteratorNext, Reflect, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, ReadableStreamDefaultReader, Request, RequestCache, RequestInit, Response};

use super::js::{now_millis, scope, settled, sleep};
use crate::library::answer::{Answer, UNREACHABLE};

/// A server that says nothing for so long is not going to.
const STALLED_MILLIS: u32 = 30_000;

/// The body of an answer; ended when it is dropped.
pub struct Body {
    reader: Option<ReadableStreamDefaultReader>,
    controller: AbortController,
}

impl Drop for Body {
    fn drop(&mut self) {
        self.controller.abort();
    }
}

/// Asks for the bytes `first..=last` of a file (all from `first` on where `last` is not known); redirects are followed. The error
/// is a reason to try again.
///
/// `bytes=a-b` is a header that needs no preflight, which servers of files often refuse. Nothing goes through the browser's
/// cache: it would store the model a second time.
pub async fn get(address: &str, first: u64, last: Option<u64>, controller: AbortController) -> Result<(Answer, Body), String> {
    let init = RequestInit::new();
    init.set_cache(RequestCache::NoStore);
    init.set_signal(Some(&controller.signal()));
    let unreachable = |_| UNREACHABLE.to_owned();
    Reflect::set(&init, &"referrerPolicy".into(), &"no-referrer".into()).map_err(unreachable)?;
    let request = Request::new_with_str_and_init(address, &init).map_err(unreachable)?;
    let range = format!("bytes={first}-{}", last.map_or(String::new(), |last| last.to_string()));
    request.headers().set("range", &range).map_err(unreachable)?;
    let mut body = Body { reader: None, controller };
    let fetched = settled::<Response>(scope().fetch_with_request(&request));
    let response = match select(Box::pin(fetched), Box::pin(sleep(STALLED_MILLIS))).await {
        Either::Left((response, _)) => response.map_err(unreachable)?,
        Either::Right(_) => return Err("the server does not answer".into()),
    };
    let header = |name: &str| response.headers().get(name).ok().flatten();
    let answer = Answer {
        status: response.status(),
        content_range: header("content-range"),
        content_length: header("content-length").and_then(|length| length.parse().ok()),
        etag: header("etag"),
        retry_after: header("retry-after"),
        now_millis: now_millis(),
    };
    body.reader = response.body().map(|stream| stream.get_reader().unchecked_into());
    Ok((answer, body))
}

impl Body {
    /// The next bytes, or `None` at the end. The error is a reason to try again.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let Some(reader) = &self.reader else { return Ok(None) };
        let read = match select(JsFuture::from(reader.read()), Box::pin(sleep(STALLED_MILLIS))).await {
            Either::Left((read, _)) => read.map_err(|_| "the connection broke off")?,
            Either::Right(_) => return Err("nothing came for half a minute".into()),
        };
        let read: IteratorNext = read.unchecked_into();
        Ok((!read.done()).then(|| read.value().unchecked_into::<Uint8Array>().to_vec()))
    }
}
