//! A server of model files that behaves like Hugging Face: each address redirects to a signed address on another origin, with the
//! same headers. Tests can make it fail like a network. It counts the bytes that it sends.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::Response;
use futures::stream;

const CHUNK: usize = 16 << 10;

/// Files and faults of the hub. Tests change them while it runs.
pub struct Rules {
    pub files: Vec<(String, Arc<Vec<u8>>)>,
    pub version: u32,
    /// Whether the hub supports range requests.
    pub ranges: bool,
    /// Whether pages may read the total length of a file in the response to a range request.
    pub shows_total: bool,
    pub bytes_per_second: Option<usize>,
    /// While this is set, the hub sends no bytes of a file from this offset on.
    pub gate: Option<usize>,
    /// A false length that the hub reports for every file.
    pub claims: Option<u64>,
    /// Number of bytes after which each of the next responses breaks off.
    pub cuts: VecDeque<usize>,
    /// Status and `Retry-After` header of the next responses of the first origin, instead of redirects.
    pub refusals: VecDeque<(u16, Option<&'static str>)>,
    /// Whether a signed address is valid for one request.
    pub signs_once: bool,
}

/// One request for a file, printed if a test fails.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: Method,
    _path: String,
    _range: Option<String>,
    pub status: u16,
}

struct Shared {
    rules: Mutex<Rules>,
    /// Number of signed addresses so far. Each contains its own number.
    signed: AtomicUsize,
    /// Numbers of the signed addresses that were used.
    used: Mutex<BTreeSet<usize>>,
    second: Mutex<String>,
    asked: Mutex<Vec<Asked>>,
    sent: Mutex<u64>,
}

/// A running hub.
pub struct Hub {
    origin: String,
    shared: Arc<Shared>,
}

impl Hub {
    /// Serves these files, at first without faults.
    pub async fn start(files: &[(&str, Vec<u8>)]) -> Self {
        let rules = Rules {
            files: files.iter().map(|(name, bytes)| ((*name).to_owned(), Arc::new(bytes.clone()))).collect(),
            version: 1,
            ranges: true,
            shows_total: true,
            bytes_per_second: None,
            gate: None,
            claims: None,
            cuts: VecDeque::new(),
            refusals: VecDeque::new(),
            signs_once: false,
        };
        let shared = Arc::new(Shared {
            rules: Mutex::new(rules),
            signed: AtomicUsize::default(),
            used: Mutex::default(),
            second: Mutex::default(),
            asked: Mutex::default(),
            sent: Mutex::new(0),
        });
        let second = serve(Router::new().fallback(stored).with_state(shared.clone())).await;
        *shared.second.lock().expect("no panic") = second;
        let origin = serve(Router::new().fallback(resolve).with_state(shared.clone())).await;
        Self { origin, shared }
    }

    /// The address of a file, as a visitor pastes it.
    pub fn address(&self, file: &str) -> String {
        format!("{}/owner/repo/resolve/main/{file}", self.origin)
    }

    pub fn rules(&self) -> MutexGuard<'_, Rules> {
        self.shared.rules.lock().expect("no test panics while it changes the rules")
    }

    /// Bytes of files sent since the last call.
    pub fn take_sent(&self) -> u64 {
        std::mem::take(&mut *self.shared.sent.lock().expect("no panic"))
    }

    /// Requests since the last call.
    pub fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.shared.asked.lock().expect("no panic"))
    }
}

async fn serve(app: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async { axum::serve(listener, app).await });
    origin
}

impl Shared {
    fn note(&self, request: &Request, status: u16) {
        let range = request.headers().get(header::RANGE).and_then(|range| range.to_str().ok()).map(str::to_owned);
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let asked = Asked { method, _path: path, _range: range, status };
        self.asked.lock().expect("no panic").push(asked);
    }
}

/// A response with the headers of Hugging Face, which allow every page to read it.
fn open_to_all(status: u16) -> axum::http::response::Builder {
    Response::builder().status(status).header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*").header(header::CACHE_CONTROL, "public, max-age=600")
}

/// The first origin: redirects to a signed address on the second origin.
async fn resolve(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Infallible> {
    let name = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
    let mut rules = shared.rules.lock().expect("no panic");
    let refusal = if request.method() == Method::GET { rules.refusals.pop_front() } else { None };
    let is_known = rules.files.iter().any(|(known, _)| *known == name);
    let answer = match refusal {
        // The hub does not answer preflight requests.
        _ if request.method() != Method::GET => Response::builder().status(StatusCode::METHOD_NOT_ALLOWED).body(Body::empty()),
        Some((status, after)) => {
            let mut answer = open_to_all(status).header(header::ACCESS_CONTROL_EXPOSE_HEADERS, "Retry-After");
            if let Some(after) = after {
                answer = answer.header(header::RETRY_AFTER, after);
            }
            answer.body(Body::from("not now"))
        }
        None if !is_known => open_to_all(404).body(Body::from("Entry not found")),
        None => {
            let number = shared.signed.fetch_add(1, Ordering::Relaxed);
            let second = shared.second.lock().expect("no panic").clone();
            open_to_all(302).header(header::LOCATION, format!("{second}/signed/{number}/{name}")).body(Body::empty())
        }
    };
    let answer = answer.expect("an answer");
    shared.note(&request, answer.status().as_u16());
    Ok(answer)
}

/// The second origin: sends the file if the signed address is valid.
async fn stored(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Infallible> {
    let path = request.uri().path().to_owned();
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let number: usize = parts.get(1).and_then(|number| number.parse().ok()).expect("the number of a signed address");
    let is_first_use = shared.used.lock().expect("no panic").insert(number);
    let has_expired = shared.rules.lock().expect("no panic").signs_once && !is_first_use;
    if request.method() != Method::GET || has_expired {
        shared.note(&request, 403);
        return Ok(open_to_all(403).body(Body::from("expired")).expect("an answer"));
    }
    let mut rules = shared.rules.lock().expect("no panic");
    let name = parts.last().copied().unwrap_or_default();
    let file = rules.files.iter().find(|(known, _)| known == name).map(|(_, bytes)| bytes.clone()).expect("a signed file is there");
    let range = request.headers().get(header::RANGE).and_then(|range| range.to_str().ok()).filter(|_| rules.ranges).map(str::to_owned);
    let bounds = range.as_deref().and_then(|range| bounds(range, file.len()));
    let status = match (&range, bounds) {
        (Some(_), None) => 416,
        (Some(_), Some(_)) => 206,
        (None, _) => 200,
    };
    shared.note(&request, status);
    let (first, end) = bounds.unwrap_or((0, if status == 416 { 0 } else { file.len() }));
    let shown = if rules.shows_total { "Content-Range, ETag, Retry-After" } else { "Link" };
    let mut answer = open_to_all(status)
        .header(header::ACCESS_CONTROL_EXPOSE_HEADERS, shown)
        .header(header::ETAG, format!("\"v{}\"", rules.version))
        .header(header::CONTENT_LENGTH, end - first);
    if status == 206 {
        answer = answer.header(header::CONTENT_RANGE, format!("bytes {first}-{}/{}", end - 1, rules.claims.unwrap_or(file.len() as u64)));
    }
    let cut = rules.cuts.pop_front();
    drop(rules);
    Ok(answer.body(body(shared, file, first, end, cut)).expect("an answer"))
}

/// A response body: the bytes in chunks, at the rate that the rules say at the time, cut off after `cut` bytes.
fn body(shared: Arc<Shared>, file: Arc<Vec<u8>>, first: usize, end: usize, cut: Option<usize>) -> Body {
    let cut = cut.map_or(usize::MAX, |cut| first + cut);
    let chunks = stream::unfold(first, move |position| {
        let (shared, file) = (shared.clone(), file.clone());
        async move {
            if position >= end {
                return None;
            }
            let gate = || shared.rules.lock().expect("no panic").gate.unwrap_or(usize::MAX);
            while position >= gate() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            if position >= cut {
                // Let bytes in flight arrive before the connection ends.
                tokio::time::sleep(Duration::from_millis(100)).await;
                return Some((Err(io::Error::other("cut")), end));
            }
            let rate = shared.rules.lock().expect("no panic").bytes_per_second;
            if let Some(rate) = rate {
                tokio::time::sleep(Duration::from_secs_f64(CHUNK as f64 / rate as f64)).await;
            }
            let next = (position + CHUNK).min(end).min(cut).min(gate().max(position + 1));
            *shared.sent.lock().expect("no panic") += (next - position) as u64;
            Some((Ok(file[position..next].to_vec()), next))
        }
    });
    Body::from_stream(chunks)
}

/// First byte and exclusive end of the range `bytes=a-b` or `bytes=a-`. `None` if it is invalid or empty.
fn bounds(range: &str, length: usize) -> Option<(usize, usize)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let first: usize = first.parse().ok()?;
    let end = if last.is_empty() { length } else { last.parse::<usize>().ok()?.checked_add(1)?.min(length) };
    (first < end).then_some((first, end))
}
