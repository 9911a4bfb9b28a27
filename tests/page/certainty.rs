//! How sure: the tokens of an answer with their probabilities and alternatives, by pointer, tap and keys, and in files.

use thirtyfour::{By, Key};

use super::browser::Browser;
use super::steps::{ask, copied_link, example_prompt, file, focus_is_on, open_link, server};

const LESSON: &[u8] = include_bytes!("../../public/gallery/lesson-a-coin-flip-answer.json");
const WITH_TOKENS: &[u8] = include_bytes!("../../crates/core/tests/golden/tokens.json");

async fn press(browser: &Browser, key: Key) {
    browser.driver.action_chain().send_keys(key).perform().await.expect("a key is pressed");
}

/// Percentages of the choices on screen.
async fn choices(browser: &Browser) -> Vec<String> {
    let script = "return [...document.querySelectorAll('.choices li .figure')].map(figure => figure.textContent)";
    browser.driver.execute(script, Vec::new()).await.expect("a script runs").convert().expect("texts")
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_show_alternatives_by_pointer_and_keys() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    assert!(browser.try_find("how-sure").await.is_none(), "the gallery has no tokens");
    let requests = server.take_requests();
    assert!(requests.iter().all(|path| !path.contains("split_details")), "the first screen does without: {requests:?}");
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    assert!(browser.try_find("certainty").await.is_none(), "it is off until asked for");
    browser.click("how-sure").await;
    browser.find("certainty").await;
    assert!(server.take_requests().iter().any(|path| path.contains("split_details")));
    browser.shows("certainty-G1", |text| text.contains("% per token (geometric mean)") && text.contains("nats together")).await;

    // The tokens are the answer.
    let read = "return [...document.querySelectorAll('[data-token]')].map(token => [token.querySelector('.piece').textContent, \
                +token.dataset.probability])";
    let tokens = browser.driver.execute(read, Vec::new()).await.expect("a script runs");
    let tokens: Vec<(String, f64)> = tokens.convert().expect("tokens");
    let answer = browser.driver.find_all(By::Css(".sentence.generated .words")).await.expect("sentences");
    let mut sentences = String::new();
    for sentence in answer {
        sentences += &sentence.prop("textContent").await.expect("it can be read").expect("a text");
    }
    let visible = |text: &str| text.chars().filter(|c| !c.is_whitespace() && !"\u{21b5}\u{2423}".contains(*c)).collect::<String>();
    assert_eq!(visible(&tokens.iter().map(|token| token.0.as_str()).collect::<String>()), visible(&sentences));
    assert!(tokens.iter().all(|token| (0.0..=1.0).contains(&token.1)), "{tokens:?}");

    browser.click("token-0").await;
    browser.shows("choices", |text| text.contains("in the answer")).await;
    assert_eq!(choices(&browser).await.len(), 6, "the token and five alternatives");
    focus_is_on(&browser, "token-0").await;
    press(&browser, Key::Right).await;
    focus_is_on(&browser, "token-1").await;
    browser.has("token-1", "aria-pressed", "true").await;
    press(&browser, Key::End).await;
    focus_is_on(&browser, &format!("token-{}", tokens.len() - 1)).await;
    press(&browser, Key::Escape).await;
    browser.shows("choices", str::is_empty).await;
    let token = browser.find("token-2").await;
    token.scroll_into_view().await.expect("it can be scrolled to");
    browser.driver.action_chain().move_to_element_center(&token).perform().await.expect("the pointer moves");
    browser.has("token-2", "aria-pressed", "true").await;
    browser.pictures_of("certainty", "certainty").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn file_has_forks_and_link_leaves_tokens_out() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.choose_file("open-json", &file("with-tokens.json", WITH_TOKENS)).await;
    browser.click("how-sure").await;
    browser.shows("forks", |text| text.lines().filter(|line| line.starts_with('G')).count() == 3).await;
    let marks = browser.driver.find_all(By::Css(".token.fork")).await.expect("tokens can be counted");
    assert_eq!(marks.len(), 3, "three at most are marked");
    let first = browser.driver.find(By::Css("[data-testid='forks'] button")).await.expect("a fork");
    let id = first.attr("data-testid").await.expect("attributes can be read").expect("an id").replace("fork", "token");
    browser.click(&id.replace("token", "fork")).await;
    focus_is_on(&browser, &id).await;
    browser.pictures_of("forks", "forks").await;

    let link = copied_link(&browser).await;
    let panel = async || browser.driver.find(By::Css(".link-panel")).await.ok()?.text().await.ok();
    let says_so = async || panel().await.filter(|text| text.contains("only in the file"));
    browser.wait("what the link leaves out", says_so).await;
    open_link(&browser, &link).await;
    browser.find("sentence-G1").await;
    assert!(browser.try_find("how-sure").await.is_none(), "the link has no tokens");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lesson_shows_what_model_almost_wrote() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.choose_file("open-json", &file("a-coin-flip-answer.json", LESSON)).await;
    browser.shows("lesson-step", |text| text.contains("Step 1 of 5")).await;
    browser.click("choose-3").await;
    browser.shows("lesson-verdict", |text| text.starts_with("Yes. The model gave Anna 15%.")).await;
    browser.click("lesson-next").await;
    browser.shows("lesson-step", |text| text.contains("Step 2 of 5")).await;
    browser.click("how-sure").await;
    let name = "[...document.querySelectorAll('[data-token]')].find(token => token.textContent.includes('Anna')).dataset.testid";
    let certainty = browser.find("certainty").await;
    certainty.scroll_into_view().await.expect("it can be scrolled to");
    let id = browser.driver.execute(format!("return {name}"), Vec::new()).await.expect("a script runs");
    browser.click(id.json().as_str().expect("an id")).await;
    browser.shows("choices", |text| text.contains("Anna") && text.contains("Ben")).await;
    assert_eq!(choices(&browser).await[..2], ["15%", "10%"]);
    browser.pictures_of("lesson", "lesson-coin-flip").await;
    browser.pictures_of("certainty", "lesson-coin-flip-tokens").await;
    let requests = server.take_requests();
    assert!(requests.iter().all(|path| !path.contains("engine") && !path.ends_with(".gguf")), "nothing runs: {requests:?}");
    browser.close().await;
}

/// The text of the first element that matches a selector.
async fn text_of(browser: &Browser, selector: &str) -> String {
    let script = "return document.querySelector(arguments[0])?.textContent ?? ''";
    browser.driver.execute(script, vec![selector.into()]).await.expect("a script runs").convert().expect("a text")
}

/// The answer on screen as the text of its tokens, up to token `end`, without white space.
async fn answer_up_to(browser: &Browser, end: usize) -> String {
    let script =
        "return [...document.querySelectorAll('[data-token] .piece')].slice(0, arguments[0]).map(piece => piece.textContent).join('')";
    let text: String = browser.driver.execute(script, vec![end.into()]).await.expect("a script runs").convert().expect("a text");
    without_space(&text)
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !"\u{21b5}\u{2423}".contains(*c)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn alternative_is_continued_explained_and_opened() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    browser.click("how-sure").await;
    browser.click("token-3").await;
    let before = answer_up_to(&browser, 3).await;

    // By keys: Tab goes from the token to its alternatives, Enter offers to continue.
    press(&browser, Key::Tab).await;
    focus_is_on(&browser, "alternative-1").await;
    assert!(browser.try_find("continue").await.is_none(), "it is off until an alternative is pressed");
    let alternative = without_space(&browser.text("alternative-1").await);
    press(&browser, Key::Enter).await;
    browser.has("alternative-1", "aria-expanded", "true").await;
    press(&browser, Key::Tab).await;
    focus_is_on(&browser, "continue").await;
    browser.pictures_of("choices", "continue").await;
    press(&browser, Key::Enter).await;
    browser.shows("continuation-0", |text| text.contains("in place of")).await;
    browser.find("explain-continuation-0").await;
    focus_is_on(&browser, "continue").await;

    // The card has the common beginning, the alternative, and new text. The answer on screen stays.
    let card = "[data-testid='continuation-0'] .answer";
    assert_eq!(without_space(&text_of(&browser, &format!("{card} .before")).await), before);
    assert_eq!(without_space(&text_of(&browser, &format!("{card} .chosen")).await), alternative);
    let text = without_space(&text_of(&browser, card).await);
    assert!(text.starts_with(&format!("{before}{alternative}")), "{text}");
    assert_eq!(answer_up_to(&browser, 3).await, before);
    assert!(browser.try_find("branches").await.is_none(), "the model chose every token of the answer on screen");
    browser.pictures_of("continuations", "continuations").await;

    browser.click("explain-continuation-0").await;
    browser.find("open-continuation-0").await;
    browser.stopped().await;
    browser.click("open-continuation-0").await;
    browser.shows("branches", |note| note.starts_with("Continued from an alternative") && note.contains("after 3 tokens")).await;
    browser.shows("manifest", |facts| facts.contains("Chosen alternatives")).await;
    browser.wait("the tokens of the new answer", async || (answer_up_to(&browser, 999).await == text).then_some(())).await;
    browser.screenshot("continued-light").await;

    let link = copied_link(&browser).await;
    open_link(&browser, &link).await;
    browser.shows("branches", |note| note.contains("after 3 tokens")).await;
    browser.close().await;
}
