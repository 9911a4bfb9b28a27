//! Printing: arcs point at their sentences, and nothing is cut off.

use super::browser::{Browser, DESKTOP, PHONE};
use super::steps::{open_gallery, server};

/// Returns the largest distance of a graph node from the first line of its sentence, and the width of the explanation, in CSS pixels.
const LAYOUT: &str = "
    const lines = document.querySelector('.lines').getBoundingClientRect();
    const middles = [...document.querySelectorAll('[data-node] .label')].map(label => {
        const place = label.getBoundingClientRect();
        return place.top + place.height / 2 - lines.top;
    });
    const nodes = [...document.querySelectorAll('.arcs circle')].map(circle => circle.cy.baseVal.value);
    const off = Math.max(...middles.map((middle, k) => Math.abs(middle - nodes[k])));
    return [off, document.querySelector('.explanation').getBoundingClientRect().width];";

async fn layout(browser: &Browser) -> [f64; 2] {
    browser.driver.execute(LAYOUT, Vec::new()).await.expect("a script runs").convert().expect("two numbers")
}

#[tokio::test(flavor = "multi_thread")]
async fn arcs_point_at_their_sentences_on_paper_too() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 2).await;
    for (screen, scheme) in [(DESKTOP, "dark"), (PHONE, "light")] {
        browser.look(screen, scheme).await;
        let on_screen = browser.wait("the graph", async || Some(layout(&browser).await).filter(|[off, _]| *off < 1.0)).await[1];
        browser.driver.execute("dispatchEvent(new Event('beforeprint'))", Vec::new()).await.expect("a script runs");
        browser.wait("the graph on paper", async || (layout(&browser).await[0] < 1.0).then_some(())).await;
        assert_eq!(layout(&browser).await[1], 690.0);
        browser.screenshot(&format!("printing-{scheme}")).await;
        browser.driver.execute("dispatchEvent(new Event('afterprint'))", Vec::new()).await.expect("a script runs");
        let is_back = async || Some(layout(&browser).await).filter(|[off, width]| *off < 1.0 && *width == on_screen);
        browser.wait("the graph on screen again", is_back).await;
    }
    browser.print("printed").await;
    browser.close().await;
}
