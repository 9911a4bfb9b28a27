//! `WebDriver` programs. Each started browser has its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use thirtyfour::{Capabilities, ChromeCapabilities};

/// Time limit for starting a browser, and for scripts.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Enables software WebGPU. Disables background downloads and other browser features that the page does not need.
const CHROMIUM_ARGUMENTS: &[&str] = &[
    "--headless=new",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-extensions",
    "--disable-features=MediaRouter,OptimizationHints,Translate",
    "--disable-gpu-compositing",
    "--disable-sync",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--enable-unsafe-swiftshader",
];

/// Path of `WebKitGTK`'s small browser on Debian.
const MINI_BROWSER: &str = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";

/// Browsers by their engines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Chromium,
    Firefox,
    WebKit,
}

impl Kind {
    /// The browser in the environment variable `GLASSCAGE_BROWSER`, or Chromium.
    pub fn chosen() -> Self {
        match std::env::var("GLASSCAGE_BROWSER").as_deref() {
            Err(_) | Ok("chromium") => Self::Chromium,
            Ok("firefox") => Self::Firefox,
            Ok("webkit") => Self::WebKit,
            Ok(other) => panic!("GLASSCAGE_BROWSER is {other}; chromium, firefox and webkit are known"),
        }
    }

    /// Folder for files that tests write. Each browser has its own, because tests in several browsers may run at the same time.
    pub fn folder(self) -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{self:?}").to_lowercase())
    }

    fn program(self) -> &'static str {
        match self {
            Self::Chromium => "chromedriver",
            Self::Firefox => "geckodriver",
            Self::WebKit => "WebKitWebDriver",
        }
    }

    /// Chromium and Firefox store their data in the folder `profile`, if given.
    fn capabilities(self, profile: Option<&Path>) -> Capabilities {
        match self {
            Self::Chromium => chromium(profile).into(),
            Self::Firefox => firefox(profile),
            Self::WebKit => web_kit(),
        }
    }
}

/// `GLASSCAGE_HEADLESS_SHELL` names a Chromium without a window, which starts in a third of the time. It does not keep its data when it is
/// killed, so browsers with a profile are complete.
fn chromium(profile: Option<&Path>) -> ChromeCapabilities {
    let mut capabilities = DesiredCapabilities::chrome();
    let shell = std::env::var("GLASSCAGE_HEADLESS_SHELL").ok().filter(|_| profile.is_none());
    if let Some(shell) = shell {
        capabilities.set_binary(&shell).expect("a path");
    }
    let own = profile.map(|profile| format!("--user-data-dir={}", profile.display()));
    for argument in CHROMIUM_ARGUMENTS.iter().copied().chain(own.as_deref()) {
        capabilities.add_arg(argument).expect("an argument");
    }
    capabilities
}

/// Enables WebGPU with every GPU driver. In Firefox 153 on Linux, WebGPU needs these preferences.
fn firefox(profile: Option<&Path>) -> Capabilities {
    let arguments = match profile {
        Some(profile) => json!(["-headless", "-profile", profile]),
        None => json!(["-headless"]),
    };
    let preferences = json!({"dom.webgpu.enabled": true, "gfx.webgpu.ignore-blocklist": true});
    of(&json!({"browserName": "firefox", "moz:firefoxOptions": {"args": arguments, "prefs": preferences}}))
}

fn web_kit() -> Capabilities {
    of(&json!({"webkitgtk:browserOptions": {"binary": MINI_BROWSER, "args": ["--automation"]}}))
}

fn of(json: &Value) -> Capabilities {
    let mut capabilities = Capabilities::new();
    for (key, value) in json.as_object().expect("an object") {
        capabilities.set(key, value).expect("it can be set");
    }
    capabilities
}

pub struct Driver {
    pub kind: Kind,
    program: Child,
    port: u16,
    /// A virtual screen, for browsers without a headless mode.
    screen: Option<Child>,
}

impl Driver {
    /// Starts a browser without opening a page.
    pub async fn start(profile: Option<&Path>) -> (Self, WebDriver) {
        let kind = Kind::chosen();
        let capabilities = kind.capabilities(profile);
        let began = Instant::now();
        let mut driver = Self::spawn(kind);
        loop {
            // Another program may have taken the port before the driver did.
            if matches!(driver.program.try_wait(), Ok(Some(_))) {
                driver = Self::spawn(kind);
            }
            match WebDriver::new(&format!("http://127.0.0.1:{}", driver.port), capabilities.clone()).await {
                Ok(browser) => {
                    // The default of 30 s is too short for scripts that look at the whole page on a busy machine.
                    browser.set_script_timeout(TIMEOUT).await.expect("a limit for scripts");
                    return (driver, browser);
                }
                Err(error) => assert!(began.elapsed() < TIMEOUT, "no browser: {error}"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Starts the driver program on a free port.
    fn spawn(kind: Kind) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
        let mut program = Command::new(kind.program());
        program.arg(format!("--port={port}")).stdout(Stdio::null()).stderr(Stdio::null());
        if kind == Kind::Firefox {
            // Tests need this to set the color scheme and the network state of the whole browser.
            program.arg("--allow-system-access");
        }
        let screen = (kind == Kind::WebKit).then(|| screen_for(&mut program));
        let program = program.spawn().unwrap_or_else(|error| panic!("{} starts (cargo xtask test installs it): {error}", kind.program()));
        Self { kind, program, port, screen }
    }

    /// Opens another session on the same Chromium, for example after its tab crashed in the session `before`.
    pub async fn attach(&self, before: &WebDriver) -> WebDriver {
        let options = before.handle().capabilities().get("goog:chromeOptions").expect("a session of Chromium");
        let address = options["debuggerAddress"].as_str().expect("where it is driven");
        let mut capabilities = DesiredCapabilities::chrome();
        capabilities.set_debugger_address(address).expect("an address");
        let browser = WebDriver::new(&format!("http://127.0.0.1:{}", self.port), capabilities).await.expect("another session");
        browser.set_script_timeout(TIMEOUT).await.expect("a limit for scripts");
        browser
    }

    /// Ends the browser at once, as a crash or a dead battery does.
    pub fn kill(mut self) {
        let all: Vec<String> = self.processes().iter().rev().map(u32::to_string).collect();
        Command::new("kill").arg("-9").args(all).status().expect("kill runs");
        self.program.wait().ok();
    }

    /// Process ids of the driver and of all its descendants.
    pub fn processes(&self) -> Vec<u32> {
        let all = all_processes();
        let mut family = vec![self.program.id()];
        let mut seen = 0;
        while seen < family.len() {
            let parent = family[seen];
            family.extend(all.iter().filter(|process| process[1] == parent).map(|process| process[0]));
            seen += 1;
        }
        family
    }

    /// Asks Chromium's driver to shut down, which also ends Chromium. Returns whether the driver answered.
    fn shut_down(&self) -> bool {
        if self.kind != Kind::Chromium {
            return false;
        }
        // A driver that hangs must not hang the test.
        let limit = Some(Duration::from_secs(5));
        let shutdown = TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut stream| {
            stream.set_read_timeout(limit)?;
            stream.set_write_timeout(limit)?;
            stream.write_all(b"GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
            stream.read_to_end(&mut Vec::new())
        });
        shutdown.is_ok()
    }
}

impl Drop for Driver {
    /// Ends the browser, also after a test panicked.
    fn drop(&mut self) {
        if !matches!(self.program.try_wait(), Ok(Some(_))) && !self.shut_down() {
            let all: Vec<String> = self.processes().iter().rev().map(u32::to_string).collect();
            // Some of these processes may already have ended.
            Command::new("kill").arg("-9").args(all).stderr(Stdio::null()).status().ok();
        }
        self.program.wait().ok();
        if let Some(screen) = &mut self.screen {
            screen.kill().ok();
            screen.wait().ok();
        }
    }
}

/// All processes of this machine: process id and parent id.
fn all_processes() -> Vec<[u32; 2]> {
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter_map(|process| {
            let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            // "12 (the name, which may hold brackets) S 1 ..."
            let parent = line.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
            Some([process, parent])
        })
        .collect()
}

/// Starts a virtual screen and makes `program` show its windows there.
fn screen_for(program: &mut Command) -> Child {
    let arguments = ["-displayfd", "1", "-screen", "0", "2000x1300x24", "-nolisten", "tcp"];
    let mut screen = Command::new("Xvfb")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("Xvfb starts (cargo xtask test installs it)");
    let mut number = String::new();
    BufReader::new(screen.stdout.take().expect("an output")).read_line(&mut number).expect("the number of the screen");
    // Disable accessibility services and the sandbox, because root in a container has neither.
    program.env("DISPLAY", format!(":{}", number.trim())).env("NO_AT_BRIDGE", "1").env("WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS", "1");
    screen
}
