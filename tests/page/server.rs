//! A static host for the built page, under a sub-path as on a project page, that remembers what was asked for.

use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use tower_http::services::ServeDir;

pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub async fn start(dist: &Path) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = requests.clone();
        let remember = from_fn(move |request: Request, next: Next| {
            log.lock().expect("no test panics while it logs").push(request.uri().path().to_owned());
            next.run(request)
        });
        let app = Router::new().nest_service("/some/where", ServeDir::new(dist)).layer(remember);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/some/where/", listener.local_addr().expect("an address"));
        tokio::spawn(async { axum::serve(listener, app).await });
        Self { url, requests }
    }

    /// Paths asked for since the last call.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().expect("no test panics while it logs"))
    }
}
