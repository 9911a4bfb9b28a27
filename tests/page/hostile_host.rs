//! A malicious host of models. For every answer, the page shows one sentence, downloads little, and stays usable.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use miniz_oxide::deflate::compress_to_vec;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::browser::Browser;
use super::download_steps::{look_at, look_at_small, small_hub};
use super::steps::server;

/// The answer to every request: `head`, then `endless` again and again, each time after `wait`.
struct Answer {
    head: Vec<u8>,
    endless: Vec<u8>,
    wait: Duration,
}

/// Limit for the bytes that the host can send, far above what the page requests. The browser buffers some bytes before the page cancels.
const MUCH: u64 = 64 << 20;
/// The start of a GGUF file without tensors and with a trillion metadata values.
const TRILLION: &[u8] = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\0\0\0";

/// A script at the start of each worker. Waits between the attempts to reach a host take a twentieth of their time.
const HURRIED: &str = "{
    const wait = self.setTimeout.bind(self);
    self.setTimeout = (handler, millis, ...rest) => wait(handler, millis > 300 && millis < 3000 ? millis / 20 : millis, ...rest);
}";

impl Answer {
    fn of(head: impl Into<Vec<u8>>) -> Self {
        Self { head: head.into(), endless: Vec::new(), wait: Duration::ZERO }
    }

    fn endless(head: impl Into<Vec<u8>>, endless: &[u8], wait: Duration) -> Self {
        Self { head: head.into(), endless: endless.to_vec(), wait }
    }

    /// Sends the answer until the other side closes the connection.
    async fn send(&self, mut stream: TcpStream, sent: &AtomicU64) -> std::io::Result<()> {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(stream.read_u8().await?);
        }
        stream.write_all(&self.head).await?;
        while !self.endless.is_empty() {
            tokio::time::sleep(self.wait).await;
            stream.write_all(&self.endless).await?;
            sent.fetch_add(self.endless.len() as u64, Ordering::Relaxed);
        }
        stream.shutdown().await
    }
}

/// Starts a host. Returns its address and the number of endless bytes that it could send.
async fn host(answer: Answer) -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}/model.gguf", listener.local_addr().expect("an address"));
    let (answer, sent) = (Arc::new(answer), Arc::new(AtomicU64::new(0)));
    let counted = sent.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (answer, sent) = (answer.clone(), counted.clone());
            tokio::spawn(async move { answer.send(stream, &sent).await });
        }
    });
    (address, sent)
}

fn head(status: &str, fields: &[&str]) -> String {
    let fields: String = ["Access-Control-Allow-Origin: *", "Access-Control-Expose-Headers: *", "Connection: close"]
        .iter()
        .chain(fields)
        .map(|field| format!("{field}\r\n"))
        .collect();
    format!("HTTP/1.1 {status}\r\n{fields}\r\n")
}

/// A gzip bomb: 256 MiB of zeros in 256 kB. Its checksum is wrong, but a reader that gets there has read too much.
fn bomb() -> Vec<u8> {
    let zeros = compress_to_vec(&vec![0; 256 << 20], 6);
    [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &zeros, &[0; 8]].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_means_ill_costs_a_sentence() {
    let (server, _turn) = server().await;
    let cases = [
        ("a file of this device", Answer::of(head("302 Found", &["Location: file:///etc/passwd"])), "cannot be reached"),
        ("this very site", Answer::of(head("302 Found", &[&format!("Location: {}index.html", server.url)])), "cannot be reached"),
        ("itself, for ever", Answer::of(head("302 Found", &["Location: /model.gguf"])), "cannot be reached"),
        ("headers of 10 MB", Answer::of(head("200 OK", &[&format!("X-Long: {}", "a".repeat(10 << 20))])), "cannot be reached"),
        ("a bomb", Answer::of([head("200 OK", &["Content-Encoding: gzip"]).as_bytes(), &bomb()].concat()), ""),
        ("a body without end", Answer::endless(head("200 OK", &[]), &[b'a'; 1 << 14], Duration::ZERO), "not a GGUF"),
        (
            "a range that was not asked for",
            Answer::of(head("206 Partial Content", &["Content-Range: bytes 5-9/10", "Content-Length: 5"]) + "aaaaa"),
            "did not send the requested bytes",
        ),
        (
            "a length that is no number",
            Answer::of(head("206 Partial Content", &["Content-Range: bytes 0-4/99999999999999999999999"]) + "aaaaa"),
            "did not send the requested bytes",
        ),
        (
            "a header that promises a trillion values",
            Answer::endless([head("200 OK", &[]).as_bytes(), TRILLION].concat(), &[0; 1 << 14], Duration::ZERO),
            "",
        ),
        ("nothing", Answer::of(head("200 OK", &["Content-Length: 0"])), ""),
    ];
    server.begin_workers_with(HURRIED);
    let browser = Browser::open(&server.url).await;
    for (name, answer, says) in cases {
        let (address, sent) = host(answer).await;
        browser.goto(&server.url).await;
        look_at(&browser, &address).await;
        let problem = browser.wait("a problem", async || browser.try_text("models-problem").await).await;
        assert!(problem.contains(says) && problem.ends_with('.'), "{name}: {problem}");
        assert!(sent.load(Ordering::Relaxed) < MUCH, "{name}: {} bytes", sent.load(Ordering::Relaxed));
    }
    // If a host sends one byte at a time, the visitor can close the dialog and look at another model.
    let drip = Answer::endless(head("200 OK", &["Content-Length: 9000000"]), b"G", Duration::from_millis(200));
    let (address, sent) = host(drip).await;
    browser.goto(&server.url).await;
    look_at(&browser, &address).await;
    browser.wait("the first bytes", async || (sent.load(Ordering::Relaxed) > 3).then_some(())).await;
    browser.click("models-close").await;
    let (_, hub) = small_hub(1).await;
    look_at_small(&browser, &hub).await;
    browser.close().await;
}
