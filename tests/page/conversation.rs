//! Conversations as prompts: recognized, explained with their speakers, shared, and continued.

use thirtyfour::Key;

use super::browser::Browser;
use super::steps::{copied_link, explain_given, file, focus_is_on, open_link, server};

const CONVERSATION: &str = "System: Be brief. Say numbers.\n\nUser: Ann has 3 figs. Bob has 4 nuts.\n\nAssistant: Ann has 3. Bob has 4.\n\n\
    User: Ann eats 1 fig. How many figs does Ann have?";
const EXPLAINED_TURNS: &[u8] = include_bytes!("../../crates/core/tests/golden/explained-turns.json");
const ANSWER: &str = "Ann has 3 - 1 = 2 figs. The answer is 2.";

/// The speakers and labels of the text, from top to bottom.
async fn rows(browser: &Browser) -> Vec<String> {
    texts(browser, "return [...document.querySelectorAll('.grid .speaker, .grid .sentence .label')].map(row => row.textContent)").await
}

/// The texts that a script returns.
async fn texts(browser: &Browser, script: &str) -> Vec<String> {
    browser.driver.execute(script, Vec::new()).await.expect("a script runs").convert().expect("texts")
}

/// Explains the prompt in the form.
async fn explain(browser: &Browser) {
    browser.open_form().await;
    browser.click("explain-button").await;
    browser.explained().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_is_explained_shared_and_continued() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    assert!(browser.try_find("reading").await.is_none() && browser.try_find("next-turn").await.is_none(), "the first screen has neither");
    explain_given(&browser, CONVERSATION, ANSWER).await;
    browser.explained().await;
    browser.shows("reading", |text| text.starts_with("Read as a conversation with 4 turns.")).await;
    let with_speakers = ["System", "P1", "P2", "User", "P3", "P4", "Assistant", "G1", "G2", "User", "P5", "P6", "G3", "G4"];
    assert_eq!(rows(&browser).await, with_speakers);
    assert!(browser.attribute("sentence-P1", "data-share").await >= 0.0, "the system message has a share");
    browser.shows("sentence-P5", |text| text.contains("Ann eats 1 fig.")).await;
    browser.pictures_of("sentence-P1", "conversation").await;

    // An earlier answer rests on the turns before it.
    browser.click("sentence-G2").await;
    browser.has("sentence-G2", "data-selected", "true").await;
    browser.shows("sentence-P6", |text| !text.contains('%')).await;
    for source in ["P1", "P2", "P3", "P4", "G1"] {
        browser.shows(&format!("sentence-{source}"), |text| text.contains('%')).await;
    }
    for source in ["P5", "P6"] {
        assert_eq!(browser.attribute(&format!("sentence-{source}"), "data-share").await, 0.0, "{source} comes later");
    }
    browser.pictures_of("sentence-G1", "conversation-earlier-answer").await;
    browser.focus("sentence-G2").await;
    for (key, leads_to) in [(Key::Down, "sentence-P5"), (Key::Up, "sentence-G2"), (Key::Home, "sentence-P1"), (Key::End, "sentence-G4")] {
        browser.driver.action_chain().send_keys(key).perform().await.expect("a key is pressed");
        focus_is_on(&browser, leads_to).await;
    }
    browser.click("tab-table").await;
    browser.shows("table", |text| text.contains("System") && text.contains("Assistant")).await;
    browser.screenshot("conversation-table-light").await;
    browser.click("tab-text").await;
    let picture = browser.picture().await;

    let link = copied_link(&browser).await;
    server.take_requests();
    open_link(&browser, &link).await;
    assert_eq!((browser.picture().await, rows(&browser).await), (picture, with_speakers.map(str::to_owned).to_vec()));
    let requests = server.take_requests();
    assert!(!requests.iter().any(|path| path.contains("engine") || path.contains("/models/")), "{requests:?}");

    // The same conversation is asked again.
    browser.click("again").await;
    browser.explained().await;
    browser.shows("reproduction", |text| text.starts_with("Reproduced here")).await;
    assert_eq!(rows(&browser).await, with_speakers);

    browser.click("next-turn").await;
    focus_is_on(&browser, "prompt-input").await;
    let continued = format!("{CONVERSATION}\n\nAssistant: {ANSWER}\n\nUser: ");
    assert_eq!(browser.value("prompt-input").await, continued);
    let caret = "return [document.activeElement.selectionStart, document.activeElement.value.length]";
    let [caret, end]: [usize; 2] = browser.driver.execute(caret, Vec::new()).await.expect("a script runs").convert().expect("numbers");
    assert_eq!(caret, end, "the caret is at the end");
    browser.shows("reading", |text| text.contains("6 turns")).await;
    browser.pictures_of("reading", "conversation-continued").await;
    browser.click("explain-button").await;
    let problem = browser.problem().await;
    assert!(problem.contains("Turn 6 of the conversation is empty"), "{problem}");

    // One document explains both answers.
    let asked = format!("{continued}Who has more?");
    explain_given(&browser, &asked, "Bob has more.").await;
    browser.explained().await;
    let with_follow_up = [&with_speakers[..12], &["Assistant", "G3", "G4", "User", "P7", "G5"]].concat();
    browser.wait("all turns", async || (rows(&browser).await == with_follow_up).then_some(())).await;
    browser.pictures_of("sentence-P7", "conversation-follow-up").await;
    let link = copied_link(&browser).await;
    let picture = browser.picture().await;
    open_link(&browser, &link).await;
    assert_eq!((browser.picture().await, rows(&browser).await), (picture, with_follow_up.iter().map(|&row| row.to_owned()).collect()));

    // Answers that are only given are sources of the prompt.
    browser.click("again").await;
    browser.explained().await;
    browser.open_form().await;
    browser.click("explain-earlier").await;
    explain(&browser).await;
    let given = ["P5", "P6", "User", "P7", "P8", "Assistant", "P9", "P10", "User", "P11", "G1"];
    let given = [&with_speakers[..7], &given].concat();
    browser.wait("all turns", async || (rows(&browser).await == given).then_some(())).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn explained_answers_come_in_text_order() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.choose_file("open-json", &file("explained-turns.json", EXPLAINED_TURNS)).await;
    let with_speakers = ["System", "P1", "User", "P2", "Assistant", "G1", "G2", "User", "P3", "G3", "G4"];
    browser.wait("the document", async || (rows(&browser).await == with_speakers).then_some(())).await;
    browser.click("tab-table").await;
    browser.find("table").await;
    let columns = "return [...document.querySelectorAll('table.heat thead th')].map(cell => cell.textContent.trim().split(' ').pop())";
    let in_order = ["P1", "P2", "G1", "G2", "P3", "G3", "G4"];
    assert_eq!(texts(&browser, columns).await, in_order);
    browser.pictures_of("table", "conversation-explained-table").await;
    browser.click("tab-without").await;
    browser.find("mark-G1").await;
    assert_eq!(
        texts(&browser, "return [...document.querySelectorAll('.mark .label')].map(label => label.textContent)").await,
        in_order[..5]
    );
    browser.click("tab-path").await;
    browser.pictures_of("path", "conversation-explained-path").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_can_be_read_as_plain_text() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.open_details_of("given-answer").await;
    browser.fill("given-answer", ANSWER).await;
    browser.fill("prompt-input", "User: Ann has 3 figs.\nAssistant: So?\nUser: How many?").await;
    browser.shows("reading", |text| text.starts_with("Read as a conversation with 3 turns.")).await;
    browser.click("read-otherwise").await;
    browser.shows("reading", |text| text.starts_with("Read as plain text.")).await;
    focus_is_on(&browser, "read-otherwise").await;
    explain(&browser).await;
    assert_eq!(rows(&browser).await, ["P1", "P2", "P3", "G1", "G2"]);
    browser.shows("sentence-P1", |text| text.contains("User: Ann has 3 figs.")).await;
    browser.click("read-otherwise").await;
    browser.shows("reading", |text| text.starts_with("Read as a conversation")).await;
    explain(&browser).await;
    let with_speakers = ["User", "P1", "Assistant", "G1", "User", "P2", "G2", "G3"];
    browser.wait("the speakers", async || (rows(&browser).await == with_speakers).then_some(())).await;
    browser.close().await;
}
