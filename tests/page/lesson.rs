//! Lessons: readers guess before they see the shares. A lesson fits in a link and needs no model.

use std::fs;

use thirtyfour::Key;

use super::browser::{Browser, DESKTOP, PHONE};
use super::steps::{copied_link, file, focus_is_on, open_gallery, server};

/// All text of the page, including labels, styles and titles of elements.
async fn said(browser: &Browser) -> String {
    let script = "const main = document.querySelector('main');
        const attributes = ['aria-label', 'style', 'title'];
        const labels = [...main.querySelectorAll('*')].map(e => attributes.map(name => e.getAttribute(name)));
        return main.textContent + labels.join(' ')";
    browser.driver.execute(script, vec![]).await.expect("a script runs").json().as_str().expect("a text").to_owned()
}

async fn at_step(browser: &Browser, words: &str) {
    browser.wait(words, async || browser.text("lesson-step").await.contains(words).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shares_are_hidden_until_reader_has_marked() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.click("lesson-1").await;
    at_step(&browser, "Step 1 of 6").await;
    browser.click("choose-1").await;
    browser.wait("a verdict", async || browser.text("lesson-verdict").await.starts_with("No,").then_some(())).await;
    browser.click("lesson-why").await;
    // The page explains a wrong answer only on request.
    browser.shows("lesson-verdict", |text| text.starts_with("No. The opening time")).await;
    browser.click("choose-2").await;
    browser.wait("a verdict", async || browser.text("lesson-verdict").await.starts_with("Yes.").then_some(())).await;
    browser.click("lesson-next").await;
    at_step(&browser, "Step 2 of 6").await;
    focus_is_on(&browser, "lesson-step").await;
    let before = said(&browser).await;
    assert!(!before.contains('%') && !before.contains("--share") && browser.try_find("sentence-G1").await.is_none(), "{before}");
    browser.pictures_of("mark-question", "lesson-mark").await;
    browser.click("mark-1").await;
    browser.click("mark-2").await;
    browser.click("mark-3").await;
    assert!(browser.find("lesson-reveal").await.is_enabled().await.unwrap(), "two are marked; a third is not taken");
    browser.click("mark-2").await;
    browser.click("mark-4").await;
    browser.click("lesson-reveal").await;
    browser.shows("mark-score", |text| text == "Your 2 sentences carry 94% of the influence; no other choice carries more.").await;
    browser.find("sentence-G1").await;
    browser.pictures_of("mark-question", "lesson-marked").await;
    browser.look(PHONE, "light").await;
    assert!(browser.overflow().await <= 0, "it fits on a phone");
    browser.look(DESKTOP, "light").await;
    browser.click("present").await;
    browser.find("lesson-step").await.send_keys("" + Key::PageDown).await.expect("it takes a key");
    at_step(&browser, "Step 3 of 6").await;
    browser.pictures_of("lesson", "lesson-presented").await;
    let requests = server.take_requests();
    assert!(requests.iter().all(|path| !path.contains("engine") && !path.ends_with(".gguf")), "nothing runs: {requests:?}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lesson_opens_from_links_files_and_reload() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.click("lesson-2").await;
    at_step(&browser, "Step 1 of 6").await;
    let link = copied_link(&browser).await;
    assert!(link.ends_with("#gallery=lesson-directly-and-by-way-of-steps"), "our own have short addresses: {link}");
    browser.click("lesson-next").await;
    browser.click("lesson-next").await;
    at_step(&browser, "Step 3 of 6").await;
    browser.find("table").await;
    browser.driver.refresh().await.expect("the page is loaded again");
    at_step(&browser, "Step 3 of 6").await;
    browser.click("lesson-end").await;
    browser.find("sentence-G3").await;
    assert!(browser.try_find("lesson").await.is_none());
    browser.driver.back().await.expect("there is an entry before");
    browser.find("welcome-intro").await;

    browser.driver.goto("about:blank").await.expect("the page closes");
    browser.driver.goto(&link).await.expect("the link opens");
    at_step(&browser, "Step 1 of 6").await;
    assert!(browser.try_find("sentence-G1").await.is_none(), "the first steps give nothing away");
    assert_eq!(browser.driver.title().await.unwrap(), "Directly and through steps - Glasscage");
    browser.click("home").await;
    browser.find("welcome-intro").await;
    assert!(browser.try_find("lesson").await.is_none());

    let json = fs::read(server.dist().join("gallery/lesson-a-mistake-explained.json")).expect("a lesson");
    browser.choose_file("open-json", &file("lesson.json", &json)).await;
    at_step(&browser, "Step 1 of 6").await;
    let link = copied_link(&browser).await;
    assert!(link.contains("#l1."), "{link}");
    browser.driver.goto("about:blank").await.expect("the page closes");
    browser.driver.goto(&link).await.expect("the link opens");
    at_step(&browser, "Step 1 of 6").await;
    let other = fs::read(server.dist().join("gallery/lesson-what-an-attribution-is.json")).expect("a lesson");
    browser.choose_file("open-json", &file("other-lesson.json", &other)).await;
    at_step(&browser, "What an attribution is").await;
    // The page shows the texts of the other lesson.
    browser.shows("lesson", |text| text.contains("six sentences")).await;
    let broken = String::from_utf8(json).unwrap().replace("\"explanation\": 0", "\"explanation\": 7");
    browser.choose_file("open-json", &file("broken-lesson.json", broken.as_bytes())).await;
    let problem = browser.problem().await;
    assert!(problem.contains("step 1 of this lesson names an explanation"), "{problem}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn printed_lesson_has_questions_and_answers() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.click("lesson-5").await;
    at_step(&browser, "Step 1 of 7").await;
    browser.driver.execute("window.print = () => {}", vec![]).await.expect("a script runs");
    browser.click("lesson-print").await;
    browser.find("lesson-sheet").await;
    let pdf = fs::read(browser.print("lesson-sheet").await).expect("a PDF");
    let count = |what: &str| String::from_utf8_lossy(&pdf).matches(what).count();
    assert_eq!(count("/Type /Page") - count("/Type /Pages"), 2, "questions and answers");
    browser.driver.execute("dispatchEvent(new Event('afterprint'))", vec![]).await.expect("a script runs");
    browser.wait("the page without the sheet", async || browser.try_find("lesson-sheet").await.is_none().then_some(())).await;
    browser.close().await;
}

/// Fills a field and dispatches `change`, as if the writer moved on to another field.
async fn write(browser: &Browser, id: &str, text: &str) {
    browser.fill(id, text).await;
    move_on(browser, id).await;
}

/// Like [`write`], for a number. A field that is cleared first shows a number again.
async fn write_number(browser: &Browser, id: &str, number: &str) {
    let field = browser.find(id).await;
    field.send_keys(Key::Control + "a").await.expect("it takes keys");
    field.send_keys(number).await.expect("it takes keys");
    move_on(browser, id).await;
}

async fn move_on(browser: &Browser, id: &str) {
    let script = "arguments[0].dispatchEvent(new Event('change', {bubbles: true}))";
    let field = browser.find(id).await.to_json().expect("an element has a name");
    browser.driver.execute(script, vec![field]).await.expect("a script runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_lesson_can_be_edited_tried_and_shared() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    browser.click("make-lesson").await;
    write(&browser, "lesson-title", "Baskets of beans").await;
    write(&browser, "lesson-text", "Read it.\n\nThen guess.").await;
    browser.click("sentence-G1").await;
    browser.click("lesson-output").await;
    browser.select("lesson-question", "mark").await;
    write(&browser, "lesson-ask", "Which two?").await;
    write_number(&browser, "lesson-count", "99").await;
    browser.wait("the largest number", async || (browser.value("lesson-count").await == "6").then_some(())).await;
    write_number(&browser, "lesson-count", "2").await;
    browser.pictures_of("lesson", "lesson-editor").await;
    browser.click("lesson-add").await;
    browser.wait("the second step", async || (browser.text("lesson-place").await == "Step 2 of 2").then_some(())).await;
    browser.select("lesson-question", "choose").await;
    write(&browser, "lesson-ask", "How many beans?").await;
    write(&browser, "lesson-choices", "44\n22\n").await;
    browser.select("lesson-right", "1").await;
    write(&browser, "lesson-because", "Half of 44.").await;
    let place = async |words: &str| browser.wait(words, async || (browser.text("lesson-place").await == words).then_some(())).await;
    browser.click("lesson-delete").await;
    place("Step 1 of 1").await;
    browser.pictures_of("lesson-undo", "lesson-undo").await;
    browser.click("lesson-undo").await;
    place("Step 2 of 2").await;
    assert_eq!(browser.value("lesson-because").await, "Half of 44.");
    focus_is_on(&browser, "lesson-undo").await;
    browser.click("lesson-earlier").await;
    place("Step 1 of 2").await;
    assert_eq!(browser.value("lesson-ask").await, "How many beans?");
    let command = |keys: &str| browser.driver.action_chain().key_down(Key::Control).send_keys(keys).key_up(Key::Control);
    command("z").perform().await.expect("keys are pressed");
    place("Step 2 of 2").await;
    command("y").perform().await.expect("keys are pressed");
    place("Step 1 of 2").await;
    command("z").perform().await.expect("keys are pressed");
    place("Step 2 of 2").await;
    browser.click("lesson-back").await;
    browser.open_details_of("lesson-size").await;
    let size = async |words: &str| browser.wait(words, async || browser.text("lesson-size").await.contains(words).then_some(())).await;
    size("1 explanation. Link of this lesson: ").await;
    let other = fs::read(server.dist().join("gallery/02-three-steps-and-an-unrelated-sentence.json")).expect("an explanation");
    browser.choose_file("lesson-file", &file("other.json", &other)).await;
    size("2 explanations.").await;
    browser.click("lesson-next").await;
    place("Step 2 of 2").await;
    browser.select("lesson-explanation", "1").await;
    browser.wait("the other text", async || browser.text("sentence-P1").await.contains("gloves").then_some(())).await;
    browser.pictures_of("lesson-explanations", "lesson-explanations").await;
    browser.select("lesson-explanation", "0").await;
    browser.wait("the first text", async || browser.text("sentence-P1").await.contains("baskets").then_some(())).await;
    browser.click("lesson-remove-2").await;
    size("1 explanation.").await;
    browser.fill("lesson-link", "https://example.org/#nothing").await;
    browser.click("lesson-add-link").await;
    assert!(browser.problem().await.contains("not an explanation or a lesson"));
    browser.pictures_of("lesson-link", "lesson-link-refused").await;
    browser.click("lesson-add-offered").await;
    size("2 explanations.").await;
    browser.click("lesson-undo").await;
    size("1 explanation.").await;
    browser.click("lesson-back").await;
    browser.click("lesson-try").await;
    at_step(&browser, "Step 1 of 2").await;
    let link = copied_link(&browser).await;

    browser.driver.goto("about:blank").await.expect("the page closes");
    browser.driver.goto(&link).await.expect("the link opens");
    at_step(&browser, "Baskets of beans").await;
    browser.click("mark-1").await;
    browser.click("mark-4").await;
    browser.click("lesson-reveal").await;
    let score = browser.text("mark-score").await;
    assert!(score.contains("72%"), "it is about G1: {score}");
    browser.click("lesson-next").await;
    browser.click("choose-2").await;
    browser.wait("a verdict", async || (browser.text("lesson-verdict").await == "Yes. Half of 44.").then_some(())).await;
    browser.close().await;
}
