//! `cargo xtask test`: every check there is, and one line that counts them.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::command::{self, run};
use crate::{build, setup};

/// Passed and failed so far.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
}

pub fn test() -> Result<()> {
    let mut tally = Tally::default();
    if let Err(error) = run_all(&mut tally) {
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
    tally.count(web.command("cargo", &arguments)?.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", "wasm-bindgen-test-runner"))?;
    let mut tests = native.command("cargo", &["test", "--workspace", "--no-fail-fast"])?;
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // Vulkan drivers complain without one.
        tests.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    tally.count(tests.env("GLASSCAGE_DIST", &dist))?;
    Ok(())
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
