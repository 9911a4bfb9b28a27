//! Clicks that check which element receives them.
//!
//! A driver computes the position of an element and presses there a moment later. If the page moves in between, the press hits another
//! element or nothing, and the driver still reports success. So `click` waits until the element holds still, listens for the click, and
//! checks which element received it.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use thirtyfour::error::WebDriverErrorInner;

use super::Browser;

/// Checks whether the element can be clicked, and starts to listen. Returns "ready" or the reason why not yet.
///
/// Drivers click the center of the visible part of the element's first box, so the script checks that point. A tab that is not drawn gets
/// no animation frames, so a timer replaces them. On a busy machine, the frames of a visible tab may be late, and the page moves with them.
const AIM: &str = "
    const [id, done] = arguments;
    const late = document.hidden ? 250 : 1000;
    const frame = () => new Promise(resolve => { requestAnimationFrame(resolve); setTimeout(resolve, late); });
    const find = () => document.querySelector(`[data-testid='${id}']`);
    const place = element => {
        const box = element.getClientRects()[0];
        if (!box) return null;
        const [left, right] = [Math.max(0, box.left), Math.min(innerWidth, box.right)];
        const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
        return [Math.floor((left + right) / 2), Math.floor((top + bottom) / 2), box.left, box.top, box.width, box.height].join();
    };
    (async () => {
        const element = find();
        if (!element) return 'it is not on the page';
        if (!place(element)) return 'it has no size';
        element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
        let before = place(element);
        for (let i = 0; i < 2; i += 1) {
            await frame();
            if (document.documentElement.hasAttribute('data-moving')) return 'one view changes into another';
            const now = place(element);
            if (!element.isConnected || now !== before) return 'it moves';
            before = now;
        }
        if (element.disabled || element.ariaDisabled === 'true') return 'it is disabled';
        const hit = document.elementFromPoint(...before.split(',').slice(0, 2).map(Number));
        if (!hit) return 'it is not in the window';
        if (!element.contains(hit)) return `${hit.dataset.testid ?? hit.outerHTML.slice(0, 80)} is in front of it`;
        window.clickArrived = null;
        addEventListener('click', event => {
            const path = event.composedPath();
            const names = path.map(node => node.dataset?.testid).filter(Boolean);
            window.clickArrived = names.includes(id) ? 'here' : (names[0] ?? path[0].outerHTML?.slice(0, 80) ?? 'the document');
        }, { capture: true, once: true });
        return 'ready';
    })().then(done, error => done(`an error: ${error}`));";

/// Returns where the click arrived: "here", the name of another element, or null if it has not arrived yet. If the click opened another
/// page, the variable is undefined. After an arrived click, waits two frames, because its immediate changes are drawn by then.
const ARRIVED: &str = "
    const done = arguments[0];
    const arrived = window.clickArrived === undefined ? 'here' : window.clickArrived;
    const frame = () => new Promise(resolve => { requestAnimationFrame(resolve); setTimeout(resolve, 250); });
    if (arrived === 'here') frame().then(frame).then(() => done(arrived)); else done(arrived);";

/// A click that has not arrived after this time is lost.
const ARRIVAL: Duration = Duration::from_secs(10);

impl Browser {
    /// Clicks an element as soon as it exists, holds still and is not covered. On return, the click has arrived and its immediate changes
    /// are drawn.
    pub async fn click(&self, id: &str) {
        let began = Instant::now();
        loop {
            let obstacle = match self.aim(id).await {
                Ok(()) if self.press(id).await => return,
                Ok(()) => "the click arrived nowhere".to_owned(),
                Err(obstacle) => obstacle,
            };
            if began.elapsed() > self.timeout {
                self.fail(&format!("{id} cannot be clicked: {obstacle}")).await;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Whether no transition between views is in progress.
    pub async fn is_still(&self) -> bool {
        let script = "return !document.documentElement.hasAttribute('data-moving')";
        let still = self.driver.execute(script, Vec::new()).await.expect("a script runs");
        still.json().as_bool().expect("true or false")
    }

    async fn aim(&self, id: &str) -> Result<(), String> {
        let seen = match self.driver.execute_async(AIM, vec![json!(id)]).await {
            Ok(seen) => seen.json().as_str().unwrap_or("no answer").to_owned(),
            // Scripts fail while the browser loads another page.
            Err(error) => format!("the browser says {error}"),
        };
        if seen == "ready" { Ok(()) } else { Err(seen) }
    }

    /// Presses the element. Returns whether the press arrived there. Fails the test if it arrived at another element, because the page
    /// would also move under a visitor's pointer.
    async fn press(&self, id: &str) -> bool {
        let Some(element) = self.try_find(id).await else { return false };
        if let Err(error) = element.click().await {
            let is_passing = matches!(
                &*error,
                WebDriverErrorInner::ElementClickIntercepted(_)
                    | WebDriverErrorInner::ElementNotInteractable(_)
                    | WebDriverErrorInner::StaleElementReference(_)
            );
            assert!(is_passing, "{id} can be clicked: {error}");
            return false;
        }
        let began = Instant::now();
        loop {
            // A script fails while the browser loads another page and while a browser dialog is open. In both cases the click has arrived.
            let Ok(arrived) = self.driver.execute_async(ARRIVED, Vec::new()).await else { return true };
            match Option::<String>::deserialize(arrived.json()).expect("a name or null").as_deref() {
                Some("here") => return true,
                Some(elsewhere) => self.fail(&format!("a click on {id} arrived at {elsewhere}: the page moved")).await,
                None if began.elapsed() > ARRIVAL => return false,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
}
