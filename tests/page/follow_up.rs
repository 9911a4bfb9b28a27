//! Follow-up questions about the explanation on screen: another derivation of the graph, another method, an answer without some sentences.

use thirtyfour::{By, Key};

use super::browser::Browser;
use super::fault_steps::{PAUSE, hold_at, stop_at};
use super::steps::{copied_link, explain_given, open_gallery, open_link, server};

/// Moves the pointer away from all sentences, because a sentence under the pointer shows its preview.
async fn rest_pointer(browser: &Browser) {
    browser.driver.action_chain().move_to(1, 1).perform().await.expect("the pointer moves");
    let preview = async || browser.driver.find(By::Css("aside.details h3 .tag")).await;
    browser.wait("the end of the preview", async || preview().await.is_err().then_some(())).await;
}

async fn open_from_gallery(browser: &Browser, number: usize) {
    open_gallery(browser, number).await;
    rest_pointer(browser).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chosen_derivation_is_kept_in_link() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_from_gallery(&browser, 2).await;
    let usual = browser.picture().await;
    browser.screenshot("simple-light").await;
    browser.click("all-numbers").await;
    browser.shows("derivation", |text| text.contains("mean over tokens, hyperbolic, weighted by flow, shares")).await;
    browser.pictures_of("all-numbers", "all-numbers").await;
    browser.open_details_of("derivation").await;
    browser.click("the-papers-way").await;
    let papers = browser.picture().await;
    assert_ne!(papers, usual);
    browser.shows("derivation", |text| text.contains("mean over tokens, shares")).await;
    browser.pictures_of("derivation", "derivation-papers").await;

    // Sums give long sentences more weight. The values differ but are still shares.
    browser.click("way-sum").await;
    let summed = browser.picture().await;
    assert_ne!(summed, papers);
    assert!(summed.iter().all(|row| row[1].parse::<u32>().is_ok_and(|percent| percent <= 100)), "{summed:?}");

    // Raw scores are numbers, not shares, in every view.
    browser.click("way-raw-scores").await;
    let raw = browser.picture().await;
    assert!(raw.iter().any(|row| row[1].parse::<f64>().is_ok_and(|number| number > 100.0)), "{raw:?}");
    browser.shows("sentence-P1", |text| !text.contains('%')).await;
    browser.pictures_of("derivation", "derivation-sum-raw").await;
    browser.click("way-mean").await;
    browser.pictures_of("sentence-P1", "derivation-mean-raw").await;
    browser.click("way-sum").await;
    browser.click("tab-table").await;
    browser.shows("table", |text| !text.contains('%')).await;
    browser.pictures_of("table", "derivation-table").await;
    browser.shows("manifest", |text| text.contains("sum over tokens, raw scores")).await;

    let link = copied_link(&browser).await;
    browser.click("the-papers-way").await;
    browser.click("tab-text").await;
    rest_pointer(&browser).await;
    assert_eq!(browser.picture().await, papers);
    browser.click("the-methods-way").await;
    assert_eq!(browser.picture().await, usual);
    open_link(&browser, &link).await;
    browser.shows("derivation", |text| text.contains("sum over tokens, raw scores")).await;
    browser.shows("sentence-P1", |text| !text.contains('%')).await;
    browser.screenshot("derivation-shared-light").await;

    // A new run uses the same derivation.
    browser.click("again").await;
    browser.explained().await;
    browser.shows("derivation", |text| text.contains("sum over tokens, raw scores")).await;
    browser.shows("reproduction", |text| text.starts_with("Reproduced here")).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compared_methods_show_their_agreement() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_from_gallery(&browser, 1).await;
    let picture = browser.picture().await;
    browser.click("tab-methods").await;
    browser.shows("model-hint", |text| text.contains("loaded first")).await;
    browser.pictures_of("compare-clp", "methods-before").await;
    browser.click("compare-clp").await;
    let agreement = browser.text("agreement").await;
    browser.stopped().await;
    assert!(agreement.contains("order") && agreement.contains('.'), "{agreement}");
    let table = browser.text("methods").await;
    assert!(table.contains("Pairs") && table.contains("CLP") && table.contains("relevant"), "{table}");
    browser.shows("method-coverage", |text| text.contains("AC")).await;
    browser.pictures_of("methods", "methods").await;

    // The explanation on screen stayed. Now the other explanation replaces it, and the visitor can go back.
    browser.click("tab-text").await;
    rest_pointer(&browser).await;
    assert_eq!(browser.picture().await, picture);
    browser.click("tab-methods").await;
    browser.click("show-clp").await;
    browser.shows("manifest", |text| text.contains("CLP")).await;
    browser.click("show-pairs").await;
    browser.click("tab-text").await;
    rest_pointer(&browser).await;
    assert_eq!(browser.picture().await, picture);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prompt_is_answered_without_some_sentences_beside_the_original() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.fill("prompt-input", "My own question?").await;
    open_from_gallery(&browser, 1).await;
    let picture = browser.picture().await;
    browser.click("tab-without").await;
    browser.shows("without-hint", |text| text.contains("Mark what")).await;
    browser.has("answer-without", "aria-disabled", "true").await;
    for row in picture.iter().filter(|row| row[0].starts_with('P')) {
        browser.click(&format!("mark-{}", row[0])).await;
    }
    browser.screenshot("without-all-light").await;
    browser.wait("what is wrong", async || browser.text("without-hint").await.contains("nothing of the prompt").then_some(())).await;
    browser.has("answer-without", "aria-disabled", "true").await;
    browser.click("mark-strongest-1").await;
    browser.has("answer-without", "aria-disabled", "false").await;
    browser.pictures_of("answer-without", "without-before").await;

    browser.click("answer-without").await;
    browser.wait("a verdict", async || browser.text("variants").await.contains("last sentence").then_some(())).await;
    browser.click("mark-strongest-2").await;
    browser.click("answer-without").await;
    browser.wait("two answers", async || (browser.text("variants").await.matches("Without P").count() == 2).then_some(())).await;
    browser.stopped().await;
    browser.pictures_of("variants", "without").await;

    // Neither the explanation nor the visitor's own text is lost.
    browser.click("tab-text").await;
    rest_pointer(&browser).await;
    assert_eq!(browser.picture().await, picture);
    assert_eq!(browser.value("prompt-input").await, "My own question?");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_number_is_answered_and_explained_beside_the_original() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_from_gallery(&browser, 1).await;
    let picture = browser.picture().await;
    browser.click("tab-without").await;
    let sentence = browser.value("reword-P1").await;
    browser.fill("reword-P1", &sentence.replace('4', "6")).await;
    browser.find("reword-P1").await.send_keys(Key::Enter).await.expect("it takes keys");
    browser.wait("a verdict", async || browser.text("variants").await.contains("last sentence").then_some(())).await;
    browser.shows("variants", |text| text.contains("With P1 reworded")).await;
    browser.stopped().await;
    browser.click("explain-variant-0").await;
    let changes = browser.wait("shares before and after", async || browser.try_text("changes").await).await;
    assert!(changes.contains("Ben fills 6 baskets.") && changes.matches('%').count() == 2 * 6, "{changes}");
    browser.stopped().await;
    browser.pictures_of("changes", "changed-prompt").await;
    let graphs = browser.find("graphs").await.find_all(By::Css("svg.arcs")).await.expect("pictures").len();
    assert_eq!(graphs, 2, "before and after, side by side");
    browser.pictures_of("graphs", "changed-graph").await;
    browser.click("open-variant-0").await;
    let is_open = async || browser.text("sentence-P1").await.contains('6').then_some(());
    browser.wait("the explanation of the changed prompt", is_open).await;
    assert_ne!(browser.picture().await, picture);
    browser.driver.back().await.expect("there is a page before");
    browser.wait("the original", async || (browser.picture().await == picture).then_some(())).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_some_sentences_can_be_stopped() {
    let (server, _turn) = server().await;
    server.begin_workers_with(&hold_at("Token", &[3]));
    server.hold(PAUSE);
    let browser = Browser::open(&format!("{}?backend=gpu", server.url)).await;
    explain_given(&browser, "Hi. Ho.", "Ho. Hi.").await;
    browser.explained().await;
    let picture = browser.picture().await;
    browser.click("tab-without").await;
    // The model was not trained on such input. It continues until it repeats itself.
    browser.click("mark-P2").await;
    browser.click("answer-without").await;
    stop_at(&browser, &server, "Token").await;
    browser.wait("the end", async || browser.text("variants").await.contains("its end").then_some(())).await;
    browser.stopped().await;
    let trial = browser.text("variants").await;
    assert!(trial.contains("Without P2") && trial.contains("Stopped before its end"), "{trial}");
    assert_eq!(browser.value("given-answer").await, "Ho. Hi.");
    browser.screenshot("without-stopped-light").await;
    browser.click("tab-text").await;
    rest_pointer(&browser).await;
    assert_eq!(browser.picture().await, picture);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sentences_and_short_texts_split_into_words() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_from_gallery(&browser, 1).await;
    let picture = browser.picture().await;
    browser.click("open-P5").await;
    let words = browser.text("by-words").await;
    browser.stopped().await;
    assert!(words.contains("blanked out alone") && words.contains('%'), "{words}");
    browser.pictures_of("open-P5", "words-opened").await;
    rest_pointer(&browser).await;
    assert_eq!(browser.picture().await, picture);
    // Folding and unfolding needs no new run.
    browser.click("open-P5").await;
    browser.wait("folded words", async || browser.try_find("by-words").await.is_none().then_some(())).await;
    browser.click("open-P5").await;
    browser.shows("by-words", |text| text == words).await;
    browser.click("open-G1").await;
    browser.stopped().await;

    browser.open_details_of("explain-button").await;
    browser.open_details_of("unit").await;
    browser.find("unit").await.send_keys("words").await.expect("a unit can be chosen");
    explain_given(&browser, "Ann has 3 figs. Bob has 4 nuts. What does Bob have?", "Bob has 4 nuts. The answer is 4.").await;
    browser.explained().await;
    assert_eq!(browser.labels().await.len(), 20);
    browser.shows("manifest", |text| text.contains("20 words")).await;
    browser.pictures_of("sentence-P1", "by-words").await;
    rest_pointer(&browser).await;
    let by_words = browser.picture().await;
    browser.click("tab-table").await;
    browser.shows("table", |text| text.contains("figs.")).await;
    browser.screenshot("by-words-table-light").await;

    let link = copied_link(&browser).await;
    open_link(&browser, &link).await;
    rest_pointer(&browser).await;
    assert_eq!(browser.picture().await, by_words);

    browser.open_details_of("explain-button").await;
    browser.open_details_of("unit").await;
    browser.find("unit").await.send_keys("words").await.expect("a unit can be chosen");
    explain_given(&browser, &"Ann has 3 figs. ".repeat(80), "Ann has 3 figs.").await;
    assert!(browser.problem().await.contains("323 forward passes"), "{}", browser.problem().await);
    browser.screenshot("by-words-too-long-light").await;
    browser.close().await;
}
