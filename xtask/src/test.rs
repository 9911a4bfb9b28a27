//! `cargo xtask test`: every check there is, and one line that counts them.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::browsers::{Browser, LONG};
use crate::command::{self, run, with_runtime_dir};
use crate::outcome::Outcome;
use crate::setup::Tools;
use crate::{build, fuzz, gpu_budgets, python, random_model, setup};

/// The runner's own limit is 20 s, less than software needs for the kernels.
const SECONDS_IN_A_BROWSER: &str = "600";

/// Commands that run what this one does not, as tests name them in `#[ignore = "..."]`, or in `pytest.skip("...")`.
const OTHER_COMMANDS: [&str; 4] = ["cargo xtask test --large", "cargo xtask screenshots", "cargo xtask bench", "GLASSCAGE_LIVE=1 pytest"];

/// How often `--soak` explains.
const EXPLANATIONS_OF_SOAK: &str = "300";

/// Passed, failed and skipped so far.
#[derive(Default)]
struct Tally {
    /// Before each line that is shown, where several run at once.
    place: String,
    passed: usize,
    failed: usize,
    /// Each test and check that failed, where it has a name.
    failures: Vec<String>,
    /// Each test that was not run, with the reason.
    skipped: Vec<String>,
    /// Tests of other commands, each with its command.
    elsewhere: Vec<String>,
    /// Tests of the page that a browser cannot pass, each with the browser and what it lacks.
    lacking: Vec<String>,
    /// Tests not run that the program whose lines are being read has named so far.
    named: usize,
}

#[derive(Args)]
pub struct Options {
    /// Only test the page with models of 640 and 810 MB, made of random weights, and every architecture on Chromium's Vulkan driver:
    /// some minutes each
    #[arg(long)]
    large: bool,
    /// Only explain 300 times in one tab, by two models in turn, and see that its memory stays as it is: two minutes. All tests do so 60
    /// times
    #[arg(long, conflicts_with = "large")]
    soak: bool,
    /// Only test the Python package: seconds, once the command line is built
    #[arg(long, conflicts_with_all = ["large", "soak"])]
    python: bool,
    /// Only test the page, in this browser: a quarter of an hour
    #[arg(long, conflicts_with_all = ["large", "soak", "python"])]
    browser: Option<Browser>,
}

/// Every test but those of other commands, or only some of them.
pub fn test(options: &Options) -> Result<()> {
    let mut tally = Tally::default();
    let done = match *options {
        Options { large: true, .. } => run_large(&mut tally),
        Options { soak: true, .. } => run_soak(&mut tally),
        Options { python: true, .. } => run_python(&mut tally),
        Options { browser: Some(browser), .. } => run_page(&mut tally, browser),
        _ => run_all(&mut tally),
    };
    if let Err(error) = done {
        tally.check("set-up", Err(error));
    }
    println!("{tally}");
    tally.verdict(std::env::var("CI").is_ok_and(|ci| ci == "true"))
}

fn run_all(tally: &mut Tally) -> Result<()> {
    setup::browser(Browser::Chromium)?;
    let (native, web) = (setup::native(), setup::web()?);
    let dist = command::build()?.join("dist");
    tally.check("format", run(&mut native.command("cargo", &["fmt", "--all", "--check"])?));
    let of_fuzzer = ["fmt", "--manifest-path", "tests/fuzz/Cargo.toml", "--check"];
    tally.check("format of the fuzzer", run(&mut native.command("cargo", &of_fuzzer)?));
    tally.check("clippy", run(&mut native.command("cargo", &["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])?));
    // With examples cargo chooses the features that clippy had, those for tests too, so that no dependency is checked again.
    let targets = ["--lib", "--bin", "app", "--bin", "viewer", "--bin", "engine", "--bin", "xtask", "--examples"];
    let mut documentation = native.command("cargo", &[&["doc", "--workspace", "--no-deps"][..], &targets].concat())?;
    tally.check("documentation", run(documentation.env("RUSTDOCFLAGS", "--deny warnings")));
    // Not the examples, which are built where they are used.
    let tests = ["--workspace", "--lib", "--bin", "glasscage", "--bin", "xtask", "--tests", "--no-fail-fast"];
    // Side by side: much of the page is linked and optimized on one core. Tests that cannot be built fail where they are run.
    let page = thread::scope(|scope| {
        let page = scope.spawn(|| build::page(&web, &dist).and_then(|sizes| sizes.check()));
        natively(&native, &tests).and_then(|mut tests| run(tests.arg("--no-run"))).ok();
        page.join().expect("no thread panics")
    });
    tally.check("page", page);
    tally.count(&mut in_a_worker(&web)?)?;
    // Those that drive the built page find it in GLASSCAGE_DIST.
    tally.count(natively(&native, &tests)?.env("GLASSCAGE_DIST", &dist))?;
    // Fuzzers take what time the browsers leave.
    let fuzzed = thread::scope(|scope| {
        let fuzzed = scope.spawn(fuzz::check);
        tally.count_side_by_side(Browser::OTHERS, &dist)?;
        Ok::<_, anyhow::Error>(fuzzed.join().expect("no thread panics"))
    })?;
    tally.check_where_possible("fuzzing", "cargo xtask fuzz", fuzzed);
    tally.count(&mut natively(&native, &["--workspace", "--doc", "--no-fail-fast"])?)?;
    // The tests of the command line have built it.
    tally.count(&mut python::tests(&command_line()?)?)?;
    // After the tests, with which it shares its build.
    tally.check_where_possible("gpu budgets", "cargo xtask gpu-budgets", gpu_budgets::check(&native));
    Ok(())
}

/// `cargo test` for tests that run in a browser's worker.
fn in_a_worker(web: &Tools) -> Result<Command> {
    let arguments = ["test", "--release", "--target", setup::WASM, "--no-default-features", "--features", "engine", "--lib"];
    let mut command = web.command("cargo", &arguments)?;
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", "wasm-bindgen-test-runner");
    command.env("WASM_BINDGEN_TEST_TIMEOUT", SECONDS_IN_A_BROWSER);
    Ok(command)
}

fn run_large(tally: &mut Tally) -> Result<()> {
    setup::browser(Browser::Chromium)?;
    let (native, web) = (setup::native(), setup::web()?);
    let dist = command::build()?.join("dist");
    tally.check("page", build::page(&web, &dist).map(drop));
    // With attention in all layers, and with memories in most.
    for shape in ["0.6b", "0.8b"] {
        let model = random_model::make(&native, shape, "Q8_0")?;
        let mut tests = natively(&native, &["--test", "page", "a_large_model", "--", "--ignored", "--nocapture"])?;
        tally.count(tests.env("GLASSCAGE_DIST", &dist).env("GLASSCAGE_LARGE_MODEL", &model))?;
    }
    let mut tests = natively(&native, &["--test", "native", "every_architecture_agrees_with_float64"])?;
    tally.count(tests.env("VK_ICD_FILENAMES", swiftshader()?))
}

fn run_soak(tally: &mut Tally) -> Result<()> {
    setup::browser(Browser::Chromium)?;
    let dist = command::build()?.join("dist");
    tally.check("page", build::page(&setup::web()?, &dist).map(drop));
    let mut tests = natively(&setup::native(), &["--test", "page", "soak::", "--", "--nocapture"])?;
    tests.env("GLASSCAGE_SOAK", std::env::var("GLASSCAGE_SOAK").unwrap_or_else(|_| EXPLANATIONS_OF_SOAK.into()));
    tally.count(tests.env("GLASSCAGE_DIST", &dist))
}

/// The description of `SwiftShader`, by which Chromium computes where there is no GPU, for programs that look for Vulkan drivers.
fn swiftshader() -> Result<PathBuf> {
    let file = PathBuf::from("/usr/lib/chromium/vk_swiftshader_icd.json");
    ensure!(file.exists(), "{} is missing; Debian's package chromium has it", file.display());
    Ok(file)
}

fn run_page(tally: &mut Tally, browser: Browser) -> Result<()> {
    let dist = command::build()?.join("dist");
    tally.check("page", build::page(&setup::web()?, &dist).map(drop));
    tally.count_in(browser, &dist, &[])
}

fn run_python(tally: &mut Tally) -> Result<()> {
    // As the whole command does, so that neither builds for the other.
    run(&mut natively(&setup::native(), &["--workspace", "--test", "native", "--no-run"])?)?;
    tally.count(&mut python::tests(&command_line()?)?)
}

/// Where the tests of the command line have built it.
fn command_line() -> Result<PathBuf> {
    Ok(command::build()?.join("target/debug/glasscage"))
}

/// `cargo test` for tests that may use Vulkan.
pub fn natively(native: &Tools, arguments: &[&str]) -> Result<Command> {
    let mut tests = native.command("cargo", &[&["test"], arguments].concat())?;
    with_runtime_dir(&mut tests);
    // The tests themselves use all cores; candle would ask the system for their number at every product.
    tests.env("RAYON_NUM_THREADS", "1");
    Ok(tests)
}

impl Tally {
    /// One check that holds or does not; where it could not be made here, that is told with its command.
    fn check_where_possible(&mut self, name: &str, command: &str, result: Result<Outcome>) {
        match result {
            Ok(Outcome::Skipped(reason)) => self.elsewhere.push(format!("{name}: {command} ({reason})")),
            done => self.check(name, done.map(drop)),
        }
    }

    /// One check that holds or does not.
    fn check(&mut self, name: &str, result: Result<()>) {
        match result {
            Ok(()) => self.passed += 1,
            Err(error) => {
                println!("{name}: {error:#}");
                self.failures.push(format!("{}{name}: {error:#}", self.place));
                self.failed += 1;
            }
        }
    }

    /// Runs `cargo test` or pytest, shows what it prints, and adds up its results.
    fn count(&mut self, command: &mut Command) -> Result<()> {
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the tests")?;
        let (passed_before, failed_before) = (self.passed, self.failed);
        for line in BufReader::new(child.stdout.take().context("the tests have no output")?).lines() {
            let line = line?;
            println!("{}{line}", self.place);
            self.read(&line)?;
        }
        // A build or run that broke has no result line of its own.
        let result = child.wait().context("the tests have no end").and_then(|status| {
            ensure!(status.success() || self.failed > failed_before, "the tests failed ({status})");
            ensure!(self.passed > passed_before || self.failed > failed_before, "not one test was run");
            Ok(())
        });
        if let Err(error) = result {
            self.check("tests", Err(error));
        }
        Ok(())
    }

    /// The tests of the page `dist` in a browser, but for those that it cannot pass and those that are `left` to another command.
    fn count_in(&mut self, browser: Browser, dist: &Path, left: &[&str]) -> Result<()> {
        let skips = browser.lacks().iter().map(|(test, _)| test).chain(left).flat_map(|test| ["--skip", test]);
        // Beside another browser one page at a time is enough for two cores: what waits asks the browser again and again.
        let one_at_a_time = (!left.is_empty()).then_some("--test-threads=1");
        let arguments: Vec<&str> = ["--workspace", "--test", "page", "--"].into_iter().chain(one_at_a_time).chain(skips).collect();
        let mut tests = natively(&setup::browser(browser)?, &arguments)?;
        self.count(tests.env("GLASSCAGE_DIST", dist).env("GLASSCAGE_BROWSER", browser.to_string()))?;
        self.elsewhere.extend(left.iter().map(|test| format!("in {browser}: {test}: cargo xtask test --browser {browser}")));
        self.lacking.extend(browser.lacks().iter().map(|(test, lack)| format!("not in {browser}: {test}: {lack}")));
        Ok(())
    }

    /// The same in several browsers at once, but for [`LONG`] tests.
    fn count_side_by_side(&mut self, browsers: [Browser; 2], dist: &Path) -> Result<()> {
        // Installed one after the other: apt lets only one in.
        browsers.iter().try_for_each(|&browser| setup::browser(browser).map(drop))?;
        let in_one = |browser| {
            let mut tally = Self { place: format!("{browser}: "), ..Self::default() };
            tally.count_in(browser, dist, &LONG).map(|()| tally)
        };
        let tallies = thread::scope(|scope| {
            let threads = browsers.map(|browser| scope.spawn(move || in_one(browser)));
            threads.map(|thread| thread.join().expect("no thread panics"))
        });
        tallies.into_iter().try_for_each(|tally| tally.map(|tally| self.add(tally)))
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.failures.extend(other.failures);
        self.skipped.extend(other.skipped);
        self.elsewhere.extend(other.elsewhere);
        self.lacking.extend(other.lacking);
    }

    /// One line of `cargo test` or pytest: a test that is not run, or the result of one program.
    fn read(&mut self, line: &str) -> Result<()> {
        if let Some((name, reason)) = ignored(line) {
            self.name(&format!("{name}: {reason}"));
        }
        if let Some((count, test)) = python::skipped(line) {
            (0..count).for_each(|_| self.name(test));
        }
        if let Some(test) = failed(line) {
            self.failures.push(format!("{}{test}", self.place));
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            self.passed += number_before(result, "passed")?;
            self.failed += number_before(result, "failed")?;
            self.not_run(number_before(result, "ignored")?);
        }
        for (count, word) in python::counts(line).unwrap_or_default() {
            match word {
                "passed" => self.passed += count,
                "failed" | "error" | "errors" => self.failed += count,
                "skipped" => self.not_run(count),
                _ => {}
            }
        }
        Ok(())
    }

    /// A test that is not run, with the reason at its end.
    fn name(&mut self, test: &str) {
        let is_elsewhere = OTHER_COMMANDS.iter().any(|command| test.ends_with(&format!(": {command}")));
        let list = if is_elsewhere { &mut self.elsewhere } else { &mut self.skipped };
        list.push(test.to_owned());
        self.named += 1;
    }

    /// A program has ended that did not run so many tests.
    fn not_run(&mut self, count: usize) {
        let unnamed = count.saturating_sub(std::mem::take(&mut self.named));
        self.skipped.extend((0..unnamed).map(|_| "a test that was not named".to_owned()));
    }

    /// Nothing failed and, where skips are failures, nothing was skipped.
    fn verdict(&self, skips_fail: bool) -> Result<()> {
        ensure!(self.failed == 0, "{} failed", self.failed);
        ensure!(self.skipped.is_empty() || !skips_fail, "{} skipped, which is a failure where CI=true", self.skipped.len());
        Ok(())
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elsewhere.iter().try_for_each(|test| writeln!(f, "not part of this command: {test}"))?;
        self.lacking.iter().try_for_each(|test| writeln!(f, "{test}"))?;
        self.skipped.iter().try_for_each(|test| writeln!(f, "skipped: {test}"))?;
        self.failures.iter().try_for_each(|test| writeln!(f, "failed: {test}"))?;
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped.len())
    }
}

/// Name and reason, from a line such as `test page::large ... ignored, cargo xtask test --large`.
fn ignored(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    Some((name, rest.strip_prefix(", ").unwrap_or("no reason is given")))
}

/// Name of a test that failed, from a line of `cargo test` such as `test page::large ... FAILED`, or of pytest such as
/// `FAILED tests/test_x.py::test_x - reason`.
fn failed(line: &str) -> Option<&str> {
    let of_cargo = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"));
    of_cargo.or_else(|| line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")))
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

    const LINES: [&str; 4] = [
        "test whole_page ... ok",
        "test a_large_model ... ignored, cargo xtask test --large",
        "test on_a_tablet ... ignored, there is no tablet",
        "test result: ok. 12 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.02s",
    ];

    fn tally(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        lines.iter().for_each(|line| tally.read(line).unwrap());
        tally
    }

    #[test]
    fn the_last_line_counts_and_the_lines_above_it_give_reasons() {
        let expected = "not part of this command: a_large_model: cargo xtask test --large\n\
                        skipped: on_a_tablet: there is no tablet\n\
                        12 passed, 0 failed, 1 skipped";
        assert_eq!(tally(&LINES).to_string(), expected);
    }

    #[test]
    fn the_last_lines_name_what_failed() {
        let mut sum = tally(&["FAILED tests/test_x.py::test_x - no reason", "1 failed in 0.50s"]);
        let mut browser = Tally { place: "firefox: ".into(), ..Tally::default() };
        for line in ["test whole_page ... FAILED", "test result: FAILED. 12 passed; 1 failed; 0 ignored"] {
            browser.read(line).unwrap();
        }
        sum.add(browser);
        sum.check("format", Err(anyhow::anyhow!("a line is too long")));
        let expected = "failed: tests/test_x.py::test_x - no reason\n\
                        failed: firefox: whole_page\n\
                        failed: format: a line is too long\n\
                        12 passed, 3 failed, 0 skipped";
        assert_eq!(sum.to_string(), expected);
    }

    #[test]
    fn a_skip_is_a_failure_only_where_ci_asks() {
        assert!(tally(&LINES).verdict(false).is_ok() && tally(&LINES).verdict(true).is_err());
        assert!(tally(&LINES[..2]).verdict(true).is_ok(), "what another command runs is not skipped");
        assert!(tally(&["test result: FAILED. 12 passed; 3 failed; 0 ignored"]).verdict(false).is_err());
    }

    #[test]
    fn a_test_ignored_without_a_reason_or_a_name_is_skipped() {
        let lines = ["test on_a_tablet ... ignored", "test result: ok. 0 passed; 0 failed; 2 ignored"];
        assert_eq!(tally(&lines).skipped, ["on_a_tablet: no reason is given", "a test that was not named"]);
    }

    #[test]
    fn what_ran_side_by_side_is_added_up() {
        let mut sum = tally(&LINES);
        sum.add(tally(&LINES));
        assert_eq!((sum.passed, sum.skipped.len(), sum.elsewhere.len()), (24, 2, 2));
        let mut failed = tally(&[]);
        failed.add(tally(&["test result: FAILED. 12 passed; 3 failed; 0 ignored"]));
        assert!(failed.verdict(false).is_err());
    }

    #[test]
    fn tests_of_python_count_like_the_others() {
        let lines = [
            "SKIPPED [2] tests/test_x.py:3: there is no tablet",
            "SKIPPED [1] tests/test_live.py:1: GLASSCAGE_LIVE=1 pytest",
            "1 failed, 7 passed, 4 skipped, 1 error in 0.50s",
        ];
        let expected = "not part of this command: tests/test_live.py:1: GLASSCAGE_LIVE=1 pytest\n\
                        skipped: tests/test_x.py:3: there is no tablet\n\
                        skipped: tests/test_x.py:3: there is no tablet\n\
                        skipped: a test that was not named\n\
                        7 passed, 2 failed, 3 skipped";
        assert_eq!(tally(&lines).to_string(), expected);
    }

    #[test]
    fn where_no_test_is_run_that_is_a_failure() {
        let mut tally = Tally::default();
        tally.count(Command::new("echo").arg("test result: ok. 0 passed; 0 failed; 0 ignored; 9 filtered out")).unwrap();
        assert_eq!((tally.passed, tally.failed), (0, 1));
    }
}
