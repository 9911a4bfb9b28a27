//! A static host for the built page. It serves the page under a sub-path, like a project page, and records the requested paths.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RANGE};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use futures::stream;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tower_http::services::ServeDir;

/// Path endings with their replacement files. `None`: there is no such file.
type Replaced = Vec<(String, Option<Served>)>;

/// Headers of every answer.
type Headers = Vec<(HeaderName, HeaderValue)>;

/// The place of the page on the host.
const FOLDER: &str = "/some/where";

/// A media type and the bytes of a file.
type Served = (&'static str, Vec<u8>);

/// How the next response for a path arrives.
#[derive(Clone, Copy)]
pub enum Arrival {
    /// It breaks off after this number of bytes.
    Cut(usize),
    /// It arrives in this number of pieces, with a pause before each.
    Slow(usize),
}

/// A script at the start of each worker. It sends the errors that the worker writes to its console to the page, where the test reads them
/// (`browser/mod.rs`). Rust writes its panics there.
const FORWARDS_ERRORS: &str = "{
    const { error } = console;
    const channel = new BroadcastChannel('worker-errors');
    console.error = (...words) => { channel.postMessage(`${self.name}: ${words.join(' ')}`); error.apply(console, words); };
}";
/// The first script of every worker.
const LOADER: &str = "engine_loader.js";

/// The pause before a piece of a slow response.
const PAUSE: Duration = Duration::from_millis(100);

pub struct Server {
    pub url: String,
    shared: Arc<Shared>,
    serving: AbortHandle,
}

/// What the tests set and read while the host answers.
struct Shared {
    dist: PathBuf,
    requests: Mutex<Vec<String>>,
    /// Paths and Range headers of the requests for a part of a file.
    ranges: Mutex<Vec<(String, String)>>,
    arrivals: Mutex<Vec<(String, Arrival)>>,
    replaced: Mutex<Replaced>,
    held: watch::Sender<Vec<String>>,
    headers: Mutex<Headers>,
    hides_endings: AtomicBool,
    is_gone: AtomicBool,
}

impl Server {
    /// Serves without the service worker, which would fetch all files of the page in each test that loads a model.
    pub async fn start(dist: &Path) -> Self {
        let server = Self::start_with_service_worker(dist).await;
        server.remove("/sw.js");
        if dist.join(LOADER).exists() {
            server.begin_workers_with("");
        }
        server
    }

    pub async fn start_with_service_worker(dist: &Path) -> Self {
        let shared = Arc::new(Shared {
            dist: dist.to_owned(),
            requests: Mutex::default(),
            ranges: Mutex::default(),
            arrivals: Mutex::default(),
            replaced: Mutex::default(),
            held: watch::Sender::default(),
            headers: Mutex::default(),
            hides_endings: AtomicBool::default(),
            is_gone: AtomicBool::default(),
        });
        let files = Router::new().nest_service(FOLDER, ServeDir::new(dist));
        // A router chooses the service before it runs its layers, so the layer that changes addresses needs a router around it.
        let files = Router::new().fallback_service(files).layer(from_fn_with_state(shared.clone(), hide_endings));
        let app = files
            .layer(from_fn_with_state(shared.clone(), pace_response))
            .layer(from_fn_with_state(shared.clone(), replace_file))
            .layer(from_fn_with_state(shared.clone(), hold_request))
            .layer(from_fn_with_state(shared.clone(), add_headers))
            .layer(from_fn_with_state(shared.clone(), log_request));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}{FOLDER}/", listener.local_addr().expect("an address"));
        let serving = tokio::spawn(async { axum::serve(listener, app).await }).abort_handle();
        Self { url, shared, serving }
    }

    /// The served folder.
    pub fn dist(&self) -> &Path {
        &self.shared.dist
    }

    /// Stops accepting connections.
    pub fn stop(&self) {
        self.serving.abort();
        // Connections that are already open get errors.
        self.set_unavailable(true);
    }

    /// Sets whether the server answers every request with 503.
    pub fn set_unavailable(&self, is_unavailable: bool) {
        self.shared.is_gone.store(is_unavailable, Ordering::Relaxed);
    }

    /// Sets headers that every answer has. Names are in lower case.
    pub fn set_headers(&self, headers: &[(impl AsRef<str>, impl AsRef<str>)]) {
        let headers = headers.iter().map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_ref().as_bytes()).expect("the name of a header");
            (name, HeaderValue::from_str(value.as_ref()).expect("the value of a header"))
        });
        *self.shared.headers.lock().expect("no panic") = headers.collect();
    }

    /// Sets whether `NAME.html` redirects to `NAME`, and `index.html` to its folder, as Cloudflare Pages does.
    pub fn set_hides_endings(&self, hides_endings: bool) {
        self.shared.hides_endings.store(hides_endings, Ordering::Relaxed);
    }

    /// Replaces the list of known models.
    pub fn set_registry(&self, json: &str) {
        self.replace("models/registry.json", json);
    }

    /// Makes every new worker run this script first. This works only until the service worker controls the page: it serves the original
    /// script, because it rejects files whose hash is wrong. So use a new browser.
    pub fn begin_workers_with(&self, script: &str) {
        let loader = std::fs::read_to_string(self.shared.dist.join(LOADER)).expect("the worker's first script");
        self.replace(LOADER, &format!("{FORWARDS_ERRORS}\n{script}\n{loader}"));
    }

    /// Serves this catalog of texts for the language `tag`.
    pub fn set_catalog(&self, tag: &str, json: &str) {
        self.replace(&format!("locales/{tag}.json"), json);
    }

    /// Holds back the answer to every request whose path contains `part`, until [`Server::release`].
    pub fn hold(&self, part: &str) {
        self.shared.held.send_modify(|held| held.push(part.to_owned()));
    }

    /// Answers all held requests.
    pub fn release(&self) {
        self.shared.held.send_modify(Vec::clear);
    }

    /// Answers the requests that [`Server::hold`] holds for this `part`.
    pub fn release_only(&self, part: &str) {
        self.shared.held.send_modify(|held| held.retain(|other| other != part));
    }

    pub fn replace(&self, path: &str, text: &str) {
        self.serve_as(path, media_type(path), text.into());
    }

    /// Serves these bytes with this media type for every path with this ending.
    pub fn serve_as(&self, path: &str, media_type: &'static str, bytes: Vec<u8>) {
        self.shared.replaced.lock().expect("no panic").push((path.to_owned(), Some((media_type, bytes))));
    }

    /// Removes all replacements, so that every file is served again.
    pub fn restore(&self) {
        self.shared.replaced.lock().expect("no panic").clear();
    }

    pub fn remove(&self, path: &str) {
        self.shared.replaced.lock().expect("no panic").push((path.to_owned(), None));
    }

    /// Sets how the next response for a path with this ending arrives.
    pub fn next_arrives(&self, path: &str, arrival: Arrival) {
        self.shared.arrivals.lock().expect("no panic").push((path.to_owned(), arrival));
    }

    /// Makes waits of the page for `millis` milliseconds take five seconds, fifty times the pause of [`Arrival::Slow`].
    pub fn hurry(&self, millis: u32) {
        let first = std::fs::read_to_string(self.shared.dist.join("start-watch.js")).expect("the page's first script");
        let hurried = format!(
            "const wait = setTimeout;
            window.setTimeout = (handler, millis, ...rest) => wait(handler, millis === {millis} ? 5000 : millis, ...rest);"
        );
        self.replace("/start-watch.js", &format!("{{ {hurried} }}\n{first}"));
    }

    /// Range headers of the requests for a path with this ending.
    pub fn ranges_of(&self, path: &str) -> Vec<String> {
        let ranges = self.shared.ranges.lock().expect("no test panics while it logs");
        ranges.iter().filter(|(asked, _)| asked.ends_with(path)).map(|(_, range)| range.clone()).collect()
    }

    /// Requested paths since the last call.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.requests.lock().expect("no test panics while it logs"))
    }
}

async fn log_request(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    if let Some(range) = request.headers().get(RANGE).and_then(|range| range.to_str().ok()) {
        shared.ranges.lock().expect("no test panics while it logs").push((path.clone(), range.to_owned()));
    }
    shared.requests.lock().expect("no test panics while it logs").push(path);
    next.run(request).await
}

async fn add_headers(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let headers = shared.headers.lock().expect("no panic").clone();
    let mut response = next.run(request).await;
    response.headers_mut().extend(headers);
    response
}

async fn hold_request(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    // Fails only if the server is gone. Then no client waits for an answer.
    drop(shared.held.subscribe().wait_for(|held| !held.iter().any(|part| path.contains(part))).await);
    next.run(request).await
}

async fn replace_file(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if shared.is_gone.load(Ordering::Relaxed) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let is_for = |(path, _): &&(String, _)| request.uri().path().ends_with(path);
    let replacement = shared.replaced.lock().expect("no panic").iter().rev().find(is_for).cloned();
    match replacement {
        Some((_, None)) => StatusCode::NOT_FOUND.into_response(),
        // A browser that keeps a replacement would not load the next one.
        Some((_, Some((media_type, bytes)))) => ([(CONTENT_TYPE, media_type), (CACHE_CONTROL, "no-store")], bytes).into_response(),
        None => next.run(request).await,
    }
}

async fn pace_response(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let arrival = {
        let mut arrivals = shared.arrivals.lock().expect("no panic");
        let at = arrivals.iter().position(|(path, _)| request.uri().path().ends_with(path));
        at.map(|at| arrivals.remove(at).1)
    };
    let response = next.run(request).await;
    match arrival {
        Some(arrival) => arrive(response, arrival).await,
        None => response,
    }
}

async fn hide_endings(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let hides_endings = shared.hides_endings.load(Ordering::Relaxed);
    match if hides_endings { short_address(request.uri(), &shared.dist) } else { ShortAddress::Same } {
        ShortAddress::Same => next.run(request).await,
        ShortAddress::Elsewhere(address) => Redirect::permanent(&address).into_response(),
        ShortAddress::Page(uri) => {
            *request.uri_mut() = uri;
            next.run(request).await
        }
    }
}

/// The same response, arriving like this.
async fn arrive(response: Response, arrival: Arrival) -> Response {
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.expect("a file of the page");
    let mut pieces: Vec<io::Result<Vec<u8>>> = match arrival {
        Arrival::Cut(length) => vec![Ok(bytes[..length.min(bytes.len())].to_vec()), Err(io::Error::other("cut"))],
        Arrival::Slow(n) => bytes.chunks(bytes.len().div_ceil(n).max(1)).map(|piece| Ok(piece.to_vec())).collect(),
    };
    pieces.reverse();
    let paced = stream::unfold(pieces, |mut left| async move {
        let next = left.pop()?;
        tokio::time::sleep(PAUSE).await;
        Some((next, left))
    });
    Response::from_parts(parts, Body::from_stream(paced))
}

/// What a host that hides the endings of pages makes of an address.
enum ShortAddress {
    Same,
    Elsewhere(String),
    Page(Uri),
}

fn short_address(uri: &Uri, dist: &Path) -> ShortAddress {
    let path = uri.path();
    let query = uri.query().map_or(String::new(), |query| format!("?{query}"));
    if let Some(short) = path.strip_suffix("index.html").or_else(|| path.strip_suffix(".html")) {
        return ShortAddress::Elsewhere(format!("{short}{query}"));
    }
    let page = path.strip_prefix(FOLDER).and_then(|path| path.strip_prefix('/')).map(|name| dist.join(format!("{name}.html")));
    match page {
        Some(page) if page.is_file() => ShortAddress::Page(format!("{path}.html{query}").parse().expect("an address")),
        _ => ShortAddress::Same,
    }
}

fn media_type(path: &str) -> &'static str {
    if path.ends_with(".js") { "text/javascript" } else { "application/json" }
}
