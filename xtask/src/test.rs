//! `cargo xtask test`: every check there is, and one line that counts them.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::command::{self, run, with_runtime_dir};
use crate::setup::Tools;
use crate::{build, random_model, setup};

/// The runner's own limit is 20 s, less than software needs for the kernels.
const SECONDS_IN_A_BROWSER: &str = "600";

/// Passed and failed so far.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
}

#[derive(Args)]
pub struct Options {
    /// Only test the page with a model of 640 MB, made of random weights: some minutes
    #[arg(long)]
    large: bool,
}

/// Every test but those that need minutes and a large file, or only these.
pub fn test(options: &Options) -> Result<()> {
    if options.large { summed(run_large) } else { summed(run_all) }
}

fn summed(checks: impl FnOnce(&mut Tally) -> Result<()>) -> Result<()> {
    let mut tally = Tally::default();
    if let Err(error) = checks(&mut tally) {
        tally.check("set-up", Err(error));
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    ensure!(tally.failed == 0, "{} failed", tally.failed);
    Ok(())
}

fn run_all(tally: &mut Tally) -> Result<()> {
    setup::browser()?;
    let (native, web) = (setup::native(), setup::web()?);
    let dist = command::build()?.join("dist");
    tally.check("format", run(&mut native.command("cargo", &["fmt", "--all", "--check"])?));
    tally.check("clippy", run(&mut native.command("cargo", &["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])?));
    tally.check("page", build::page(&web, &dist));
    // Tests in a browser worker, then native ones; those that drive the built page find it in GLASSCAGE_DIST.
    let arguments = [
        "test",
        "--release",
        "--target",
        "wasm32-unknown-unknown",
        "--no-default-features",
        "--features",
        "engine",
        "--lib",
        "--test",
        "worker",
    ];
    let mut in_a_browser = web.command("cargo", &arguments)?;
    in_a_browser.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", "wasm-bindgen-test-runner");
    tally.count(in_a_browser.env("WASM_BINDGEN_TEST_TIMEOUT", SECONDS_IN_A_BROWSER))?;
    tally.count(natively(&native, &["--workspace", "--no-fail-fast"])?.env("GLASSCAGE_DIST", &dist))
}

fn run_large(tally: &mut Tally) -> Result<()> {
    setup::browser()?;
    let (native, web) = (setup::native(), setup::web()?);
    let dist = command::build()?.join("dist");
    tally.check("page", build::page(&web, &dist));
    let Some(model) = random_model::make(&native, "0.6b", "Q8_0")? else { return Ok(()) };
    let mut tests = natively(&native, &["--test", "page", "a_large_model", "--", "--ignored", "--nocapture"])?;
    tally.count(tests.env("GLASSCAGE_DIST", &dist).env("GLASSCAGE_LARGE_MODEL", &model))
}

/// `cargo test` for tests that may use Vulkan.
fn natively(native: &Tools, arguments: &[&str]) -> Result<Command> {
    let mut tests = native.command("cargo", &[&["test"], arguments].concat())?;
    with_runtime_dir(&mut tests);
    Ok(tests)
}

impl Tally {
    /// One check that holds or does not.
    fn check(&mut self, name: &str, result: Result<()>) {
        match result {
            Ok(()) => self.passed += 1,
            Err(error) => {
                println!("{name}: {error:#}");
                self.failed += 1;
            }
        }
    }

    /// Runs `cargo test`, shows what it prints, and adds up its result lines.
    fn count(&mut self, command: &mut Command) -> Result<()> {
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo test")?;
        let failed_before = self.failed;
        for line in BufReader::new(child.stdout.take().context("cargo test has no output")?).lines() {
            let line = line?;
            println!("{line}");
            if let Some(result) = line.strip_prefix("test result: ") {
                self.passed += number_before(result, "passed")?;
                self.failed += number_before(result, "failed")?;
            }
        }
        // A build or run that broke has no result line of its own.
        if !child.wait()?.success() && self.failed == failed_before {
            self.failed += 1;
        }
        Ok(())
    }
}

/// The number before `word` in cargo's line `ok. 3 passed; 0 failed; ...`.
fn number_before(line: &str, word: &str) -> Result<usize> {
    let words: Vec<&str> = line.split([' ', ';']).collect();
    let at = words.iter().position(|&other| other == word).with_context(|| format!("no {word} in: {line}"))?;
    words[at - 1].parse().with_context(|| format!("no number before {word} in: {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_off_cargos_line() {
        let line = "FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s";
        assert_eq!((number_before(line, "passed").unwrap(), number_before(line, "failed").unwrap()), (12, 3));
    }
}
