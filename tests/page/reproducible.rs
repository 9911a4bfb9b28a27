//! Compares the scores of all engines. `docs/research/reproducibility.md` shows the figures that this test prints.

use glasscage::explanation::Document;
use glasscage::shares::Shares;

use super::browser::Browser;
use super::steps::{is_thorough, open_gallery, server};

/// Largest allowed difference of a score, in nats.
const TOLERANCE: f64 = 1e-4;

/// An explanation of the gallery by number, computed by the CPU engine of the command line. It takes 15 passes over a short text.
const SHORTEST: [(usize, &str); 1] = [(7, include_str!("../fixtures/gallery/07-before-and-after.json"))];

/// The explanations that `cargo xtask test --all` compares.
const GALLERY: [(usize, &str); 3] = [
    (1, include_str!("../fixtures/gallery/01-equal-groups.json")),
    (4, include_str!("../fixtures/gallery/04-a-quantity-nobody-asks-for.json")),
    (9, include_str!("../fixtures/gallery/09-three-sentences-to-combine.json")),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_engine_computes_the_same_scores() {
    let (server, _turn) = server().await;
    let browser = Browser::start(None).await;
    for &engine in browser.engines() {
        for &(number, json) in if is_thorough() { &GALLERY[..] } else { &SHORTEST } {
            let expected = Document::from_json(json).expect("a document");
            browser.driver.goto("about:blank").await.expect("the page closes");
            browser.goto(&format!("{}?backend={engine}", server.url)).await;
            open_gallery(&browser, number).await;
            browser.click("again").await;
            browser.explained().await;
            let saved = String::from_utf8(browser.saved("save-json").await).expect("UTF-8");
            let found = Document::from_json(&saved).expect("the page saves what opens again");
            let difference = largest_difference(&found, &expected);
            println!("{}, gallery {number}: at most {difference:.1e} nats", found.manifest.backend);
            assert!(difference <= TOLERANCE, "{engine}, gallery {number}: {difference:.1e} nats");
            assert_eq!(strongest_source(&found), strongest_source(&expected), "{engine}, gallery {number}");
            assert_eq!(found.support.len(), found.generation.sentences.len(), "{engine}, gallery {number}: support of each sentence");
        }
    }
    browser.close().await;
}

/// Largest difference between scores of the same sentences, in nats.
fn largest_difference(one: &Document, other: &Document) -> f64 {
    let scores = |document: &Document| document.table.rows().flatten().map(|score| score.expect("it is measured")).collect::<Vec<f64>>();
    let (one, other) = (scores(one), scores(other));
    assert_eq!(one.len(), other.len(), "scores of the same sentences");
    one.iter().zip(&other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
}

/// 0-based index of the prompt sentence with the largest share.
fn strongest_source(document: &Document) -> Option<usize> {
    let shares = Shares::of(document);
    let share = |j: usize| shares.total(j).expect("it is measured");
    (0..shares.n_prompt()).max_by(|&a, &b| share(a).total_cmp(&share(b)))
}
