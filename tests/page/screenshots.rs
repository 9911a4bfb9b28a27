//! Pictures of every state of the page with every theme and window size. `cargo xtask screenshots` shows them on one page.

use std::cell::{Cell, RefCell};

use serde_json::json;

use super::browser::{Browser, DESKTOP, Kind};
use super::states::visit_states;
use super::steps::server;

/// Widths of a small phone, a tablet, a laptop, and a large screen, in CSS pixels.
const WIDTHS: [u32; 4] = [360, 768, 1280, 1920];
/// The width of a window of 1280 pixels at 200 %.
const TWICE_AS_LARGE: u32 = 640;
/// The width of A4 paper at 96 pixels per inch.
const PAPER: u32 = 794;
/// Minimum height of a picture. Pictures show the whole page, but are at most [`highest`] high.
const LOWEST: u32 = 640;

/// Window width, color scheme and media of a picture.
struct Look {
    name: String,
    width: u32,
    scheme: &'static str,
    /// Additional media features that Chromium emulates.
    media: Option<serde_json::Value>,
}

impl Look {
    async fn apply(&self, browser: &Browser, height: u32) {
        browser.look((self.width, height), self.scheme).await;
        if let Some(media) = &self.media {
            browser.driver.cdp().send_raw("Emulation.setEmulatedMedia", media.clone()).await.expect("Chromium shows other media");
        }
        browser.driver.execute("scrollTo(0, 0)", Vec::new()).await.expect("a script runs");
        browser.settled().await;
    }
}

/// All looks that the browser supports. `WebKitGTK` always has the color scheme of GTK's theme.
fn looks(kind: Kind) -> Vec<Look> {
    let is_dark = std::env::var("GTK_THEME").is_ok_and(|theme| theme.ends_with(":dark"));
    let schemes: &[&'static str] = match kind {
        Kind::WebKit if is_dark => &["dark"],
        Kind::WebKit => &["light"],
        Kind::Chromium | Kind::Firefox => &["light", "dark"],
    };
    let look = |width: u32, scheme| Look { name: format!("{width}-{scheme}"), width, scheme, media: None };
    let mut looks: Vec<Look> = schemes.iter().flat_map(|scheme| WIDTHS.map(|width| look(width, *scheme))).collect();
    looks.push(Look { name: format!("200-percent-{}", schemes[0]), ..look(TWICE_AS_LARGE, schemes[0]) });
    if kind == Kind::Chromium {
        let forced = json!({"features": [{"name": "forced-colors", "value": "active"}]});
        looks.push(Look { name: "forced-colors".into(), media: Some(forced), ..look(DESKTOP.0, "light") });
        looks.push(Look { name: "print".into(), media: Some(json!({"media": "print"})), ..look(PAPER, "light") });
    }
    looks
}

/// Maximum height of a picture. Windows of `WebKitGTK` cannot be higher than the virtual screen of the tests.
fn highest(kind: Kind) -> u32 {
    if kind == Kind::WebKit { 1200 } else { 2400 }
}

/// Takes pictures of the current state. Returns the names of pictures in which the page is wider than its window.
async fn pictures(browser: &Browser, state: &str) -> Vec<String> {
    let mut too_wide = Vec::new();
    for look in looks(browser.kind()) {
        look.apply(browser, LOWEST).await;
        look.apply(browser, browser.page_height().await.clamp(LOWEST, highest(browser.kind()))).await;
        let name = format!("{state}/{}", look.name);
        browser.screenshot(&name).await;
        if browser.overflow().await > 0 {
            too_wide.push(name);
        }
    }
    browser.look(DESKTOP, "light").await;
    // WebKitGTK clicks at the right place only after its window was drawn.
    browser.settled().await;
    too_wide
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "cargo xtask screenshots"]
async fn no_state_is_wider_than_its_window_in_any_look() {
    let (server, _turn) = server().await;
    let browser = Browser::start(None).await;
    let (visited, too_wide) = (Cell::new(0), RefCell::new(Vec::new()));
    let visit = async |browser: &Browser, state: &str| {
        visited.set(visited.get() + 1);
        let wide = pictures(browser, &format!("{:02} {state}", visited.get())).await;
        too_wide.borrow_mut().extend(wide);
    };
    visit_states(&browser, &server.url, visit).await;
    assert_eq!(too_wide.take(), Vec::<String>::new());
    browser.close().await;
}
