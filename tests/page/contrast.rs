//! Why this and not that: a part of the answer is compared with another text.

use thirtyfour::Key;

use super::browser::Browser;
use super::fault_steps::{PAUSE, hold_at, stop_at};
use super::steps::{copied_link, explain_given, file, focus_is_on, open_link, server};

const PROMPT: &str = "Ann has 3 figs. Bob has 4 nuts. What does Bob have?";
const ANSWER: &str = "Bob has 4 nuts. The answer is 4.";
/// A lesson of the page about an explanation with a contrast.
const LESSON: &[u8] = include_bytes!("../../public/gallery/lesson-an-injected-instruction.json");

/// Marks the first occurrence of `text` in the sentence of the form, as a visitor's pointer does.
async fn mark(browser: &Browser, text: &str) {
    let script = "const field = document.querySelector('[data-testid=contrast-sentence]');
        const at = field.value.indexOf(arguments[0]);
        field.focus();
        field.setSelectionRange(at, at + arguments[0].length);";
    browser.driver.execute(script, vec![text.into()]).await.expect("a script runs");
    browser.shows("contrast-mark", |shown| shown.contains(&format!("\u{201c}{text}\u{201d}"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn contrast_shows_what_speaks_for_both_texts() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    assert!(browser.try_find("contrast-open").await.is_none(), "the first screen does not offer it");
    explain_given(&browser, PROMPT, ANSWER).await;
    browser.explained().await;
    browser.click("contrast-open").await;
    browser.shows("contrast-mark", |text| text == "Marked: all of G2").await;
    assert!(server.take_requests().iter().any(|path| path.contains("split_details")), "it is a part of its own");
    browser.has("contrast-run", "aria-disabled", "true").await;
    // The model's own next tokens are offered for the token at which the mark begins.
    mark(&browser, "answer is").await;
    browser.shows("contrast-form", |text| text.contains("own alternatives to \u{201c}answer\u{201d}")).await;
    browser.shows("contrast-form", |text| text.contains("The mark goes on after this token")).await;
    mark(&browser, "4").await;
    browser.shows("contrast-form", |text| text.contains("own alternatives to \u{201c}4\u{201d}") && !text.contains("goes on")).await;
    let pick = browser.text("pick-0").await;
    browser.click("pick-0").await;
    browser.has("pick-0", "aria-pressed", "true").await;
    let entered = browser.value("contrast-alternative").await;
    assert!(entered != "4" && pick.starts_with(&entered), "{entered:?} {pick:?}");
    browser.pictures_of("picks", "contrast-picks").await;
    browser.fill("contrast-alternative", "3").await;
    browser.has("contrast-run", "aria-disabled", "false").await;
    browser.pictures_of("contrast-form", "contrast-form").await;
    browser.click("contrast-run").await;
    browser.shows("contrast-verdict", |text| text.contains("supports \u{201c}4\u{201d} most")).await;
    browser.stopped().await;
    browser.shows("contrasts", |text| text.contains("Why \u{201c}4\u{201d} and not \u{201c}3\u{201d}?")).await;
    browser.pictures_of("contrasts", "contrast").await;

    // By keyboard, with another sentence, a second contrast above the first one.
    browser.click("sentence-G1").await;
    browser.shows("contrast-mark", |text| text == "Marked: all of G1").await;
    browser.focus("contrast-sentence").await;
    let select_first_word = browser.driver.action_chain().send_keys(Key::Control + Key::Home).key_down(Key::Shift);
    let select_first_word = select_first_word.send_keys(Key::Right + Key::Right + Key::Right).key_up(Key::Shift);
    select_first_word.perform().await.expect("keys are pressed");
    browser.shows("contrast-mark", |text| text == "Marked: \u{201c}Bob\u{201d}").await;
    browser.fill("contrast-alternative", "Ann").await;
    browser.find("contrast-alternative").await.send_keys(Key::Enter).await.expect("it takes keys");
    browser.shows("contrasts", |text| text.contains("and not \u{201c}Ann\u{201d}?")).await;
    browser.stopped().await;
    focus_is_on(&browser, "contrast-alternative").await;
    let both = browser.text("contrasts").await;
    assert!(both.find("Ann").expect("the new one") < both.find("and not \u{201c}3\u{201d}").expect("the first one"), "{both}");

    // Nothing to compare is a problem in words.
    mark(&browser, "Bob").await;
    browser.fill("contrast-alternative", "Bob").await;
    browser.click("contrast-run").await;
    let problem = browser.problem().await;
    assert!(problem.starts_with("Both texts are the same"), "{problem}");

    let link = copied_link(&browser).await;
    open_link(&browser, &link).await;
    browser.shows("contrasts", |text| text == both).await;
    browser.screenshot("contrast-shared-light").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_contrast_keeps_explanation() {
    let (server, _turn) = server().await;
    server.begin_workers_with(&hold_at("Passes", &[1]));
    server.hold(PAUSE);
    let browser = Browser::open(&server.url).await;
    explain_given(&browser, &"Ann has 3 figs. ".repeat(3), "Ann has 3 figs.").await;
    browser.explained().await;
    browser.click("contrast-open").await;
    browser.fill("contrast-alternative", "Bob has 4 nuts.").await;
    browser.click("contrast-run").await;
    stop_at(&browser, &server, "Passes").await;
    browser.shows("status", |text| text.starts_with("Stopped")).await;
    browser.stopped().await;
    assert!(browser.try_find("contrast-verdict").await.is_none());
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lesson_shows_contrast_after_reader_has_marked() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.choose_file("open-json", &file("an-injected-instruction.json", LESSON)).await;
    browser.shows("lesson-step", |text| text.contains("Step 1 of 5")).await;
    assert!(browser.try_find("contrasts").await.is_none(), "it would give the answer away");
    browser.click("mark-4").await;
    browser.click("lesson-reveal").await;
    browser.click("lesson-next").await;
    browser.click("lesson-next").await;
    browser.shows("lesson-step", |text| text.contains("Step 3 of 5")).await;
    browser.shows("contrasts", |text| text.contains("P4 supports \u{201c}noon\u{201d} most (41%)") && text.contains("46%")).await;
    browser.pictures_of("lesson", "lesson-injected").await;
    browser.close().await;
}
