//! Glasscage Standard: offered in the form, downloaded once from the page's own site, kept for the next visit.

use super::browser::Browser;
use super::dist::built_page;
use super::download_steps::model_is_ready;
use super::server::Server;
use super::steps::{ask, open_gallery, server_of};

const NAME: &str = "Glasscage Standard";
const PROBLEM: &str = "There are 3 red cups and 4 blue cups. How many cups are there?";
/// The model's answer is wrong. The only sign of that is other answers, which it could just as well have given.
const DOUBTFUL: &str = "me and my 3 frends shared 20 sweets fairly, I dont like the green ones. how many did we get each";

/// Number of requests for parts of the model since the last call.
fn n_requests(server: &Server) -> usize {
    server.take_requests().iter().filter(|path| path.contains("/models/standard/")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_is_downloaded_on_request_and_kept() {
    let (server, _turn) = server_of(built_page()).await;
    let for_classes = format!("{}?model=standard", server.url);
    let browser = Browser::start(None).await;
    browser.driver.goto(&for_classes).await.expect("the page opens");
    let is_open = async || browser.find("prompt-input").await.is_displayed().await.unwrap_or(false).then_some(());
    browser.wait("the form, which the address opens", is_open).await;
    browser.shows("standard-offer", |text| text.contains("65.2 MB")).await;
    browser.pictures_of("standard-offer", "standard-offer").await;
    assert_eq!(n_requests(&server), 0, "the address downloads nothing");

    browser.click("get-standard").await;
    // The download ends when the engine loads the model.
    let is_chosen = async || browser.text("model-state").await.contains(NAME).then_some(());
    browser.wait("the end of the download", is_chosen).await;
    model_is_ready(&browser).await;
    assert!(browser.try_find("standard-offer").await.is_none());
    assert!(n_requests(&server) >= 3, "three parts");
    // This method takes the fewest passes.
    browser.open_details_of("method").await;
    browser.select("method", "pert").await;
    ask(&browser, PROBLEM).await;
    browser.explained().await;
    browser.shows("manifest", |text| text.contains(NAME)).await;
    browser.shows("sentences", |text| text.contains("The answer is")).await;

    browser.goto(&server.url).await;
    is_chosen().await.expect("the model of the last visit is chosen");
    ask(&browser, DOUBTFUL).await;
    // The answer is enough: the explanation takes longer.
    browser.shows("answer-warning", |text| text.starts_with("This answer is doubtful")).await;
    browser.pictures_of("answer-warning", "standard-doubtful").await;
    browser.goto(&server.url).await;
    browser.click("models-button").await;
    browser.click("use-built-in").await;
    browser.find("use-standard").await;
    browser.goto(&for_classes).await;
    is_chosen().await.expect("the address chooses the stored model");
    assert_eq!(n_requests(&server), 0, "it is downloaded once");

    // An explanation that it made beforehand asks for it.
    browser.click("models-button").await;
    browser.click("use-built-in").await;
    open_gallery(&browser, 7).await;
    browser.click("again").await;
    browser.shows("download-button", |text| text == "Use Glasscage Standard").await;
    browser.pictures_of("preview", "standard-again").await;
    browser.click("download-button").await;
    browser.wait("the stored model", is_chosen).await;
    browser.close().await;
}
