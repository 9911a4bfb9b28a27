//! A static host for the built page. It serves the page under a sub-path, like a project page, and records the requested paths.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RANGE};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn};
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

/// The pause before a piece of a slow response.
const PAUSE: Duration = Duration::from_millis(100);

pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
    /// Paths and Range headers of the requests for a part of a file.
    ranges: Arc<Mutex<Vec<(String, String)>>>,
    arrivals: Arc<Mutex<Vec<(String, Arrival)>>>,
    replaced: Arc<Mutex<Replaced>>,
    held: watch::Sender<Vec<String>>,
    headers: Arc<Mutex<Headers>>,
    hides_endings: Arc<AtomicBool>,
    dist: PathBuf,
    serving: AbortHandle,
    is_gone: Arc<AtomicBool>,
}

impl Server {
    /// Serves without the service worker, which would fetch all files of the page in each test that loads a model.
    pub async fn start(dist: &Path) -> Self {
        let server = Self::start_with_service_worker(dist).await;
        server.remove("/sw.js");
        server
    }

    pub async fn start_with_service_worker(dist: &Path) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = requests.clone();
        let replaced = Arc::<Mutex<Replaced>>::default();
        let others = replaced.clone();
        let is_gone = Arc::<AtomicBool>::default();
        let gone = is_gone.clone();
        let held = watch::Sender::new(Vec::<String>::new());
        let holds = held.clone();
        let when_released = from_fn(move |request: Request, next: Next| {
            let mut holds = holds.subscribe();
            async move {
                let path = request.uri().path().to_owned();
                // Fails only if the server is gone. Then no client waits for an answer.
                drop(holds.wait_for(|held| !held.iter().any(|part| path.contains(part))).await);
                next.run(request).await
            }
        });
        let with_others = from_fn(move |request: Request, next: Next| {
            let gone = gone.load(Ordering::Relaxed);
            let others = others.lock().expect("no panic");
            let other = others.iter().rev().find(|(path, _)| request.uri().path().ends_with(path)).cloned();
            drop(others);
            async move {
                match other {
                    _ if gone => StatusCode::SERVICE_UNAVAILABLE.into_response(),
                    Some((_, None)) => StatusCode::NOT_FOUND.into_response(),
                    // A browser that keeps a replacement would not load the next one.
                    Some((_, Some((media_type, bytes)))) => {
                        ([(CONTENT_TYPE, media_type), (CACHE_CONTROL, "no-store")], bytes).into_response()
                    }
                    None => next.run(request).await,
                }
            }
        });
        let headers = Arc::<Mutex<Headers>>::default();
        let sent = headers.clone();
        let with_headers = from_fn(move |request: Request, next: Next| {
            let sent = sent.lock().expect("no panic").clone();
            async move {
                let mut response = next.run(request).await;
                response.headers_mut().extend(sent);
                response
            }
        });
        let ranges = Arc::<Mutex<Vec<(String, String)>>>::default();
        let log_of_ranges = ranges.clone();
        let hides_endings = Arc::<AtomicBool>::default();
        let (hides, folder) = (hides_endings.clone(), dist.to_owned());
        let with_short_addresses = from_fn(move |mut request: Request, next: Next| {
            let uri = if hides.load(Ordering::Relaxed) { short_address(request.uri(), &folder) } else { ShortAddress::Same };
            async move {
                match uri {
                    ShortAddress::Same => next.run(request).await,
                    ShortAddress::Elsewhere(address) => Redirect::permanent(&address).into_response(),
                    ShortAddress::Page(uri) => {
                        *request.uri_mut() = uri;
                        next.run(request).await
                    }
                }
            }
        });
        let remember = from_fn(move |request: Request, next: Next| {
            let path = request.uri().path().to_owned();
            if let Some(range) = request.headers().get(RANGE).and_then(|range| range.to_str().ok()) {
                log_of_ranges.lock().expect("no test panics while it logs").push((path.clone(), range.to_owned()));
            }
            log.lock().expect("no test panics while it logs").push(path);
            next.run(request)
        });
        let arrivals = Arc::<Mutex<Vec<(String, Arrival)>>>::default();
        let chosen = arrivals.clone();
        let as_chosen = from_fn(move |request: Request, next: Next| {
            let mut chosen = chosen.lock().expect("no panic");
            let at = chosen.iter().position(|(path, _)| request.uri().path().ends_with(path));
            let arrival = at.map(|at| chosen.remove(at).1);
            drop(chosen);
            async move {
                let response = next.run(request).await;
                match arrival {
                    Some(arrival) => arrive(response, arrival).await,
                    None => response,
                }
            }
        });
        let files = Router::new().nest_service(FOLDER, ServeDir::new(dist));
        // A router chooses the service before it runs its layers, so the layer that changes addresses needs a router around it.
        let files = Router::new().fallback_service(files).layer(with_short_addresses);
        let app = files.layer(as_chosen).layer(with_others).layer(when_released).layer(with_headers).layer(remember);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}{FOLDER}/", listener.local_addr().expect("an address"));
        let serving = tokio::spawn(async { axum::serve(listener, app).await }).abort_handle();
        Self { url, requests, ranges, arrivals, replaced, held, headers, hides_endings, dist: dist.to_owned(), serving, is_gone }
    }

    /// The served folder.
    pub fn dist(&self) -> &Path {
        &self.dist
    }

    /// Stops accepting connections.
    pub fn stop(&self) {
        self.serving.abort();
        // Connections that are already open get errors.
        self.set_unavailable(true);
    }

    /// Sets whether the server answers every request with 503.
    pub fn set_unavailable(&self, is_unavailable: bool) {
        self.is_gone.store(is_unavailable, Ordering::Relaxed);
    }

    /// Sets headers that every answer has. Names are in lower case.
    pub fn set_headers(&self, headers: &[(impl AsRef<str>, impl AsRef<str>)]) {
        let headers = headers.iter().map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_ref().as_bytes()).expect("the name of a header");
            (name, HeaderValue::from_str(value.as_ref()).expect("the value of a header"))
        });
        *self.headers.lock().expect("no panic") = headers.collect();
    }

    /// Sets whether `NAME.html` redirects to `NAME`, and `index.html` to its folder, as Cloudflare Pages does.
    pub fn set_hides_endings(&self, hides_endings: bool) {
        self.hides_endings.store(hides_endings, Ordering::Relaxed);
    }

    /// Replaces the list of known models.
    pub fn set_registry(&self, json: &str) {
        self.replace("models/registry.json", json);
    }

    /// Makes every new worker run this script first. This works only until the service worker controls the page: it serves the original
    /// script, because it rejects files whose hash is wrong. So use a new browser.
    pub fn begin_workers_with(&self, script: &str) {
        let loader = std::fs::read_to_string(self.dist.join("engine_loader.js")).expect("the worker's first script");
        self.replace("engine_loader.js", &format!("{script}\n{loader}"));
    }

    /// Serves this catalog of texts for the language `tag`.
    pub fn set_catalog(&self, tag: &str, json: &str) {
        self.replace(&format!("locales/{tag}.json"), json);
    }

    /// Holds back the answer to every request whose path contains `part`, until [`Server::release`].
    pub fn hold(&self, part: &str) {
        self.held.send_modify(|held| held.push(part.to_owned()));
    }

    /// Answers all held requests.
    pub fn release(&self) {
        self.held.send_modify(Vec::clear);
    }

    pub fn replace(&self, path: &str, text: &str) {
        self.serve_as(path, media_type(path), text.into());
    }

    /// Serves these bytes with this media type for every path with this ending.
    pub fn serve_as(&self, path: &str, media_type: &'static str, bytes: Vec<u8>) {
        self.replaced.lock().expect("no panic").push((path.to_owned(), Some((media_type, bytes))));
    }

    /// Removes all replacements, so that every file is served again.
    pub fn restore(&self) {
        self.replaced.lock().expect("no panic").clear();
    }

    pub fn remove(&self, path: &str) {
        self.replaced.lock().expect("no panic").push((path.to_owned(), None));
    }

    /// Sets how the next response for a path with this ending arrives.
    pub fn next_arrives(&self, path: &str, arrival: Arrival) {
        self.arrivals.lock().expect("no panic").push((path.to_owned(), arrival));
    }

    /// Makes waits of the page for `millis` milliseconds take five seconds, fifty times the pause of [`Arrival::Slow`].
    pub fn hurry(&self, millis: u32) {
        let first = std::fs::read_to_string(self.dist.join("start-watch.js")).expect("the page's first script");
        let hurried = format!(
            "const wait = setTimeout;
            window.setTimeout = (handler, millis, ...rest) => wait(handler, millis === {millis} ? 5000 : millis, ...rest);"
        );
        self.replace("/start-watch.js", &format!("{{ {hurried} }}\n{first}"));
    }

    /// Range headers of the requests for a path with this ending.
    pub fn ranges_of(&self, path: &str) -> Vec<String> {
        let ranges = self.ranges.lock().expect("no test panics while it logs");
        ranges.iter().filter(|(asked, _)| asked.ends_with(path)).map(|(_, range)| range.clone()).collect()
    }

    /// Requested paths since the last call.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().expect("no test panics while it logs"))
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
