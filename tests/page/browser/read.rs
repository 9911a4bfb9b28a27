//! Reads of the page that tests repeat while they wait. Each is one script. The driver's own commands find an element, and then read it
//! with a long script. They take four times the CPU time, and slow down the page that the test waits for.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use thirtyfour::prelude::*;

use super::Browser;

/// Returns the text of an element as visitors see it, or null if there is no such element. Returns false if only the driver can read it: it
/// is hidden, is not HTML, or has parts for screen readers only.
const TEXT: &str = "
    const element = document.querySelector(`[data-testid='${arguments[0]}']`);
    const hidden = '.visually-hidden';
    if (!element) return null;
    if (!element.checkVisibility?.() || element.closest(hidden) || element.querySelector(hidden)) return false;
    return element.innerText?.replaceAll('\\u00a0', ' ').trim() ?? false;";

/// Returns the state of the run: the status, whether Stop is there, the text of the problem, and whether an explanation is there.
const RUN: &str = "
    const find = id => document.querySelector(`[data-testid='${id}']`);
    const visible = { opacityProperty: true, visibilityProperty: true, checkOpacity: true, checkVisibilityCSS: true };
    return {
        status: find('status')?.textContent ?? null,
        running: find('stop-button')?.checkVisibility(visible) ?? false,
        problem: find('problem')?.innerText ?? null,
        explained: find('sentence-G1') !== null,
    };";

/// The state of a run.
#[derive(Deserialize)]
struct Run {
    status: Option<String>,
    running: bool,
    problem: Option<String>,
    explained: bool,
}

impl Browser {
    /// The text of an element. Waits for the element.
    pub async fn text(&self, id: &str) -> String {
        self.wait(&format!("{id} on the page"), async || self.try_text(id).await).await
    }

    /// The text of an element, if the element is on the page.
    pub async fn try_text(&self, id: &str) -> Option<String> {
        // Scripts fail while the browser loads another page.
        match self.driver.execute(TEXT, vec![json!(id)]).await.ok()?.json() {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            _ => self.try_find(id).await?.text().await.ok(),
        }
    }

    /// Waits until the text of an element is as expected.
    pub async fn shows(&self, id: &str, is_expected: impl Fn(&str) -> bool) {
        let began = Instant::now();
        loop {
            let text = self.text(id).await;
            if is_expected(&text) {
                return;
            }
            if began.elapsed() > self.timeout {
                self.fail(&format!("{id} does not become what is expected; it reads: {text}")).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits for a problem and returns its text. Prints the errors of workers, in case the test fails.
    pub async fn problem(&self) -> String {
        let problem = self.wait("a problem", async || self.try_text("problem").await.filter(|text| !text.is_empty())).await;
        println!("{problem} {}", self.worker_errors().await);
        problem
    }

    async fn run(&self) -> Option<Run> {
        self.driver.execute(RUN, Vec::new()).await.ok()?.convert().ok()
    }

    /// Whether a run is in progress.
    pub async fn is_running(&self) -> bool {
        self.run().await.is_some_and(|run| run.running)
    }

    /// Waits until no run is in progress.
    pub async fn stopped(&self) {
        self.wait("the end of the run", async || self.run().await.filter(|run| !run.running)).await;
    }

    /// Waits until the run has ended and an explanation is on screen. Waits as long as the status changes, because machines can be slow.
    pub async fn explained(&self) {
        let (mut last, mut since) = (None, Instant::now());
        loop {
            if let Some(Run { status, running, problem, explained }) = self.run().await {
                if let Some(problem) = problem {
                    panic!("instead of an explanation: {problem} {}", self.worker_errors().await);
                }
                if explained && !running {
                    return;
                }
                if status != last {
                    (last, since) = (status, Instant::now());
                }
            }
            if since.elapsed() > self.timeout {
                self.fail("waited in vain for an explanation").await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// All sentences at one moment: label, CAGE share, direct share and selection of each.
    pub async fn picture(&self) -> Vec<[String; 4]> {
        let script = "return [...document.querySelectorAll(\"[data-testid^='sentence-']\")].map(row =>
            [row.dataset.testid.slice('sentence-'.length), ...['share', 'direct', 'selected'].map(name => row.dataset[name] ?? '')])";
        self.driver.execute(script, Vec::new()).await.expect("a script runs").convert().expect("texts")
    }

    /// Labels of all sentence rows, in order: P1, .. G1, ..
    pub async fn labels(&self) -> Vec<String> {
        self.picture().await.into_iter().map(|[label, ..]| label).collect()
    }

    /// Number of sentences with an estimated share.
    pub async fn n_estimated(&self) -> usize {
        self.driver.find_all(By::Css(".sentence.estimated")).await.expect("sentences can be counted").len()
    }
}
