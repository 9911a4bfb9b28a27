//! A headless browser with a fresh profile.

mod click;
mod driver;
mod look;
mod read;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use driver::Driver;
pub use driver::Kind;
use serde_json::json;
use thirtyfour::common::print::PrintParameters;
use thirtyfour::prelude::*;

/// Time limit of each wait, with the built-in model. Only a test that hangs reaches it, even on a slow and busy machine.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Longest text that is typed key by key, in bytes. A longer text is set at once.
const LONGEST_TYPED: usize = 300;

pub const DESKTOP: (u32, u32) = (1280, 900);
/// Page area on a small desktop screen.
const SMALL_DESKTOP: (u32, u32) = (1280, 800);
pub const PHONE: (u32, u32) = (390, 844);

pub struct Browser {
    pub driver: WebDriver,
    program: Driver,
    /// Time limit of each wait.
    pub timeout: Duration,
}

impl Browser {
    /// Opens the page and its form.
    pub async fn open(url: &str) -> Self {
        Self::open_in(None, url).await
    }

    /// Like [`Browser::open`], with the browser's data in the folder `profile`.
    pub async fn open_in(profile: Option<&Path>, url: &str) -> Self {
        let browser = Self::start(profile).await;
        browser.goto(url).await;
        browser
    }

    /// Starts a browser without opening a page.
    pub async fn start(profile: Option<&Path>) -> Self {
        let (program, driver) = Driver::start(profile).await;
        let browser = Self { driver, program, timeout: TIMEOUT };
        browser.look(DESKTOP, "light").await;
        browser
    }

    /// Goes to the page, and opens its form.
    pub async fn goto(&self, url: &str) {
        self.driver.goto(url).await.expect("the page opens");
        self.record_worker_errors().await;
        self.open_form().await;
    }

    /// Starts to record errors of the page's workers, because the page does not show the browser's messages. The server makes workers send
    /// what they write to their console. The channel closes with the page, because browsers do not restore a page with an open channel.
    async fn record_worker_errors(&self) {
        let script = "window.workerErrors = [];
            const workerConsole = new BroadcastChannel('worker-errors');
            workerConsole.onmessage = ({ data }) => workerErrors.push(data);
            addEventListener('pagehide', () => workerConsole.close(), { once: true });
            window.Worker = class extends Worker {
                constructor(...options) {
                    super(...options);
                    this.addEventListener('error', error => workerErrors.push(`${error.message} (${error.filename}:${error.lineno})`));
                }
            };";
        self.driver.execute(script, Vec::new()).await.expect("a script");
    }

    async fn worker_errors(&self) -> String {
        let errors = self.driver.execute("return (window.workerErrors ?? []).join('; ')", Vec::new()).await;
        errors.ok().and_then(|errors| errors.json().as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Opens the form, like the button "Try your own prompt".
    pub async fn open_form(&self) {
        self.open_details_of("prompt-input").await;
        let is_shown = async || self.find("prompt-input").await.is_displayed().await.unwrap_or(false).then_some(());
        self.wait("the form", is_shown).await;
        self.wait("the examples above the form, which push it down", async || self.has_fetched("demo-examples.json").await.then_some(()))
            .await;
    }

    /// Whether the page has fetched this file, or tried to, and has had two frames to show the result.
    async fn has_fetched(&self, file: &str) -> bool {
        let script = "
            const [file, done] = arguments;
            const fetched = performance.getEntriesByType('resource');
            const isThere = fetched.some(({ name, responseEnd }) => name.includes(file) && responseEnd > 0);
            if (!isThere) done(false);
            else {
                setTimeout(() => done(true), 250);
                requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true))));
            }";
        self.driver.execute_async(script, vec![json!(file)]).await.is_ok_and(|seen| seen.json() == &json!(true))
    }

    pub fn kind(&self) -> Kind {
        self.program.kind
    }

    /// Sets the window size in CSS pixels and the preferred color scheme.
    pub async fn look(&self, size: (u32, u32), scheme: &str) {
        look::set(&self.driver, self.program.kind, size, scheme).await;
    }

    /// Waits until no transition runs and nothing scrolls.
    pub async fn settled(&self) {
        look::settled(&self.driver).await;
    }

    /// Waits for the element with this `data-testid`.
    pub async fn find(&self, id: &str) -> WebElement {
        self.wait(&format!("{id} on the page"), async || self.try_find(id).await).await
    }

    pub async fn try_find(&self, id: &str) -> Option<WebElement> {
        self.driver.find(By::Css(format!("[data-testid='{id}']"))).await.ok()
    }

    /// Number of elements with this `data-testid`.
    pub async fn count(&self, id: &str) -> usize {
        self.driver.find_all(By::Css(format!("[data-testid='{id}']"))).await.expect("a list").len()
    }

    /// Clicks with a modifier key held.
    pub async fn click_with(&self, id: &str, modifier: Key) {
        let element = self.find(id).await;
        element.scroll_into_view().await.expect("it can be scrolled to");
        let actions = self.driver.action_chain().key_down(modifier.clone()).click_element(&element).key_up(modifier);
        actions.perform().await.expect("it can be clicked");
    }

    /// Ends the browser at once, as a crash or a dead battery does.
    pub fn kill(self) {
        self.program.kill();
    }

    /// Process ids of this browser with Chromium's process type `kind`.
    fn processes_of(&self, kind: &str) -> Vec<u32> {
        let arguments = |process: &u32| std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let is_meant = |process: &u32| arguments(process).contains(&format!("--type={kind}"));
        self.program.processes().into_iter().filter(is_meant).collect()
    }

    /// Resident memory of the renderer processes, in bytes. They run pages and their workers.
    pub fn resident_bytes(&self) -> u64 {
        let kilobytes = |process: u32| {
            let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0)
        };
        self.processes_of("renderer").into_iter().map(kilobytes).sum::<u64>() * 1024
    }

    /// Kills the GPU process of this browser.
    pub fn crash_gpu(&self) {
        let gpu = self.processes_of("gpu-process").into_iter().next().expect("a GPU process");
        let killed = Command::new("kill").args(["-9", &gpu.to_string()]).status().expect("kill runs");
        assert!(killed.success(), "the GPU process was not killed: {killed}");
    }

    /// Crashes the renderer of the tab, as if memory ran out, and opens a new session for the tab.
    pub async fn crash_tab(&mut self) {
        // The driver always reports an error here, because the tab crashed.
        drop(self.driver.cdp().send_raw("Page.crash", json!({})).await);
        let again = self.program.attach(&self.driver).await;
        // Leak the old session, because closing it would end the browser.
        std::mem::replace(&mut self.driver, again).leak().expect("it is left as it is");
    }

    /// Opens the `<details>` around an element.
    pub async fn open_details_of(&self, id: &str) {
        let script = format!("document.querySelector(\"[data-testid='{id}']\").closest('details').open = true");
        self.find(id).await;
        self.driver.execute(script, Vec::new()).await.expect("a script runs");
    }

    /// The value of a text field.
    pub async fn value(&self, id: &str) -> String {
        self.read(id, async |element| element.prop("value").await).await.unwrap_or_default()
    }

    /// The value of a numeric attribute.
    pub async fn attribute(&self, id: &str, name: &str) -> f64 {
        let value = self.read(id, async |element| element.attr(name).await).await;
        value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{id} has no number {name}"))
    }

    /// Waits until an attribute of an element has this value.
    pub async fn has(&self, id: &str, name: &str, value: &str) {
        let has = async || (self.try_find(id).await?.attr(name).await.ok()?.as_deref() == Some(value)).then_some(());
        self.wait(&format!("{id} with {name}=\"{value}\""), has).await;
    }

    /// Reads a property of an element. Tries again if the page replaces the element in between.
    async fn read<T>(&self, id: &str, read: impl AsyncFn(WebElement) -> WebDriverResult<T>) -> T {
        self.wait(&format!("{id} on the page"), async || read(self.try_find(id).await?).await.ok()).await
    }

    /// Gives an element the focus.
    pub async fn focus(&self, id: &str) {
        self.read(id, async |element| element.focus().await).await;
    }

    /// Replaces the text of a field.
    pub async fn fill(&self, id: &str, text: &str) {
        // Drivers press a key for each character. WebKitGTK's driver only has the keys of a US keyboard.
        if self.program.kind == Kind::WebKit || text.len() > LONGEST_TYPED {
            return self.set_value(id, text, "input").await;
        }
        let replace = async |field: WebElement| {
            field.clear().await?;
            field.send_keys(text).await
        };
        self.read(id, replace).await;
    }

    /// Chooses a local file in an `<input type=file>`.
    pub async fn choose_file(&self, id: &str, path: &Path) {
        self.choose_files(id, &[path.to_owned()]).await;
    }

    /// Chooses several local files at once.
    pub async fn choose_files(&self, id: &str, paths: &[PathBuf]) {
        let names: Vec<&str> = paths.iter().map(|path| path.to_str().expect("a UTF-8 path")).collect();
        self.read(id, async |input| input.send_keys(names.join("\n")).await).await;
    }

    /// Chooses an option by its value.
    pub async fn select(&self, id: &str, value: &str) {
        self.set_value(id, value, "change").await;
    }

    /// Sets the value of a field, and dispatches the event that a visitor's input causes.
    async fn set_value(&self, id: &str, value: &str, event: &str) {
        let script = "const [field, value, event] = arguments;
            field.value = value;
            field.dispatchEvent(new Event(event, { bubbles: true }));";
        let set = async |field: WebElement| self.driver.execute(script, vec![field.to_json()?, value.into(), event.into()]).await;
        self.read(id, set).await;
    }

    /// Waits until `look` returns a value, and returns it.
    pub async fn wait<T>(&self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            if began.elapsed() > self.timeout {
                self.fail(&format!("waited in vain for {what}")).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Takes a screenshot and fails the test.
    async fn fail(&self, why: &str) -> ! {
        let test = std::thread::current().name().unwrap_or("unknown").replace("::", "-");
        let file = screenshot_file(self.kind(), &format!("failed-{test}"));
        let picture = match self.driver.screenshot(&file).await {
            Ok(()) => format!("the page looked like {}", file.display()),
            Err(error) => format!("the browser took no picture: {error}"),
        };
        panic!("{why}; {picture} {}", self.worker_errors().await);
    }

    /// Saves a screenshot for people to look at, if `GLASSCAGE_SCREENSHOTS` names a folder.
    pub async fn screenshot(&self, name: &str) {
        if pictures_are_wanted() {
            self.driver.screenshot(&screenshot_file(self.kind(), name)).await.expect("a screenshot");
        }
    }

    /// Prints the page as a PDF into the folder of the screenshots. Returns the path of the PDF.
    pub async fn print(&self, name: &str) -> PathBuf {
        self.screenshot(name).await;
        let file = screenshot_file(self.kind(), name).with_extension("pdf");
        let pdf = self.driver.print_page(PrintParameters::default()).await.expect("the page is printed");
        std::fs::write(&file, pdf).expect("it can be written");
        file
    }

    /// Fails if the page is wider than its window, at the current size or on a phone. If this run saves screenshots, takes them around an
    /// element on a small desktop and on a phone, in light and dark colors.
    pub async fn pictures_of(&self, id: &str, name: &str) {
        let schemes = if pictures_are_wanted() { &["light", "dark"][..] } else { &["light"] };
        for (size, device) in [(SMALL_DESKTOP, "desktop"), (PHONE, "phone")] {
            for scheme in schemes {
                if pictures_are_wanted() || size == PHONE {
                    self.look(size, scheme).await;
                }
                self.find(id).await.scroll_into_view().await.expect("it can be scrolled to");
                self.screenshot(&format!("{name}-{device}-{scheme}")).await;
                assert_eq!(self.overflow().await, 0, "{name} is wider than a {device}");
            }
        }
        self.look(DESKTOP, "light").await;
    }

    /// Height of the whole page, in pixels.
    pub async fn page_height(&self) -> u32 {
        let script = "return document.documentElement.scrollHeight";
        self.driver.execute(script, Vec::new()).await.expect("a script runs").convert().expect("a number")
    }

    /// Width of the page beyond the window, in pixels.
    pub async fn overflow(&self) -> i64 {
        let script = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        self.driver.execute(script, Vec::new()).await.expect("a script runs").json().as_i64().expect("a number")
    }

    /// Whether the full height of an element is in the window.
    pub async fn is_in_view(&self, id: &str) -> bool {
        let script = "const box = arguments[0].getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight";
        let element = self.find(id).await.to_json().expect("an element has a name");
        self.driver.execute(script, vec![element]).await.expect("a script runs").json().as_bool().expect("yes or no")
    }

    /// Sets whether the browser reports a network to pages.
    pub async fn set_online(&self, is_online: bool) {
        look::set_online(&self.driver, self.program.kind, is_online).await;
    }

    /// Presses a button that saves a file. Returns the content of the file.
    pub async fn saved(&self, id: &str) -> Vec<u8> {
        let keep = "window.saved = null;
            window.createUrl ??= URL.createObjectURL;
            URL.createObjectURL = blob => { window.saved = blob; return window.createUrl.call(URL, blob); }";
        self.driver.execute(keep, Vec::new()).await.expect("a script runs");
        self.click(id).await;
        let is_saved = async || {
            let saved = self.driver.execute("return window.saved !== null", Vec::new()).await.expect("a script runs");
            (saved.json() == &json!(true)).then_some(())
        };
        self.wait("a saved file", is_saved).await;
        let read = "const done = arguments[arguments.length - 1];
            const reader = new FileReader();
            reader.onload = () => done(reader.result);
            reader.readAsBinaryString(window.saved);";
        let read = self.driver.execute_async(read, Vec::new()).await.expect("the file is read");
        // Each character is one byte.
        read.json().as_str().expect("a text").chars().map(|c| c as u8).collect()
    }

    /// Drops local files in the middle of the page.
    pub async fn drop_files(&self, paths: &[PathBuf]) {
        if self.program.kind == Kind::Chromium {
            let data = json!({"items": [], "files": paths, "dragOperationsMask": 1});
            for kind in ["dragEnter", "dragOver", "drop"] {
                let event = json!({"type": kind, "x": 400, "y": 300, "data": data});
                self.driver.cdp().send_raw("Input.dispatchDragEvent", event).await.expect("files can be dropped");
            }
            return;
        }
        // Other drivers cannot drag files, so the page gets copies of them.
        let files = paths.iter().map(|path| {
            let name = path.file_name().expect("a file name").to_string_lossy();
            // Each character is one byte.
            let content: String = std::fs::read(path).expect("it can be read").into_iter().map(char::from).collect();
            json!([name, content])
        });
        let script = "const data = new DataTransfer();
            for (const [name, content] of arguments[0]) {
                data.items.add(new File([Uint8Array.from(content, character => character.charCodeAt(0))], name));
            }
            const place = document.elementFromPoint(400, 300);
            for (const kind of ['dragenter', 'dragover', 'drop']) {
                place.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data }));
            }";
        self.driver.execute(script, vec![files.collect()]).await.expect("files can be dropped");
    }

    /// The engines that this browser can run, named as in `?backend=`.
    pub fn engines(&self) -> &'static [&'static str] {
        if self.program.kind == Kind::WebKit { &["cpu"] } else { &["cpu", "gpu"] }
    }

    /// The GPU name that the page shows after "webgpu-software". Firefox does not reveal it.
    pub fn gpu_words(&self) -> &'static str {
        if self.program.kind == Kind::Chromium { " (google swiftshader)" } else { "" }
    }

    /// Ends the session, because an open session keeps the browser running.
    pub async fn close(self) {
        self.driver.clone().quit().await.ok();
    }
}

/// Whether this run saves screenshots.
fn pictures_are_wanted() -> bool {
    std::env::var_os("GLASSCAGE_SCREENSHOTS").is_some()
}

/// Path of a screenshot: below `GLASSCAGE_SCREENSHOTS` or `target`, in a folder named after the browser.
fn screenshot_file(kind: Kind, name: &str) -> PathBuf {
    let folder =
        std::env::var_os("GLASSCAGE_SCREENSHOTS").map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots"), PathBuf::from);
    let file = folder.join(format!("{kind:?}").to_lowercase()).join(format!("{name}.png"));
    std::fs::create_dir_all(file.parent().expect("it lies in a folder")).expect("a folder for screenshots");
    file
}
