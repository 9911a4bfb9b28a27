//! The results of a test run, and the lines that show them. Failures come last.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::python;

/// Commands that run other tests. Tests name them in `#[ignore = "..."]` or `pytest.skip("...")`.
const OTHER_COMMANDS: [&str; 5] = [
    "cargo xtask test --large",
    "cargo xtask screenshots",
    "cargo xtask bench",
    "GLASSCAGE_LIVE=1 pytest",
    "GLASSCAGE_TEMPLATE_CASES=FILE cargo test",
];
/// A run with more flaky tests than this fails.
pub const MAX_FLAKY: usize = 2;
const SLOWEST_SHOWN: usize = 20;

/// A test that failed, or that passed only when it was repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub stage: String,
    pub test: String,
    /// First line of its message.
    pub line: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (", self.stage, self.test)?;
        write!(f, "{})", if self.line.is_empty() { "no message" } else { &self.line })
    }
}

/// All results of a run so far.
#[derive(Default)]
pub struct Report {
    pub passed: usize,
    pub failures: Vec<Failure>,
    pub flaky: Vec<Failure>,
    /// Each test that did not run, with the reason.
    pub skipped: Vec<String>,
    /// Tests of other commands, with the command.
    pub elsewhere: Vec<String>,
    /// Page tests that a browser cannot pass, with the browser and the missing feature.
    pub lacking: Vec<String>,
    stages: Vec<(String, Duration)>,
    /// Seconds, stage and name of each test with a known time.
    times: Vec<(f64, String)>,
    /// Results that the current text runner has named so far.
    text: TextRunner,
}

/// Results that a text runner names before its last line counts them.
#[derive(Default)]
struct TextRunner {
    named_failures: usize,
    named_skips: usize,
}

impl Report {
    /// Runs one stage and prints its duration. An error of the stage itself counts as a failure, and later stages still run.
    pub fn stage(&mut self, name: &str, work: impl FnOnce(&mut Self) -> Result<()>) {
        println!("== {name}");
        let began = Instant::now();
        if let Err(error) = work(self) {
            self.fail(name, "the stage itself", &format!("{error:#}"));
        }
        self.stages.push((name.to_owned(), began.elapsed()));
    }

    /// Adds the result of one check.
    pub fn check(&mut self, name: &str, result: Result<()>) {
        match result {
            Ok(()) => self.passed += 1,
            Err(error) => self.fail("check", name, &format!("{error:#}")),
        }
    }

    pub fn fail(&mut self, stage: &str, test: &str, message: &str) {
        println!("FAILED {stage}: {test}\n{message}");
        let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
        self.failures.push(Failure { stage: stage.to_owned(), test: test.to_owned(), line });
    }

    pub fn took(&mut self, stage: &str, test: &str, seconds: f64) {
        self.times.push((seconds, format!("{stage}: {test}")));
    }

    /// Adds a test that did not run here.
    pub fn ignored(&mut self, test: &str, reason: &str) {
        let is_elsewhere = OTHER_COMMANDS.contains(&reason);
        let list = if is_elsewhere { &mut self.elsewhere } else { &mut self.skipped };
        list.push(format!("{test}: {reason}"));
    }

    /// Reads one line of a runner that prints text, pytest or `cargo test` with `wasm-bindgen-test-runner`: the result of one test, or
    /// the counts of all tests.
    pub fn read(&mut self, stage: &str, line: &str) -> Result<()> {
        if let Some((name, reason)) = ignored(line) {
            self.text.named_skips += 1;
            self.ignored(name, reason);
        }
        if let Some((count, test)) = python::skipped(line) {
            let (place, reason) = test.rsplit_once(": ").unwrap_or((test, "no reason is given"));
            for _ in 0..count {
                self.text.named_skips += 1;
                self.ignored(place, reason);
            }
        }
        if let Some((test, message)) = failed(line) {
            self.text.named_failures += 1;
            self.failures.push(Failure { stage: stage.to_owned(), test: test.to_owned(), line: message.to_owned() });
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            self.passed += number_before(result, "passed")?;
            self.ended(stage, number_before(result, "failed")?, number_before(result, "ignored")?);
        }
        if let Some(counts) = python::counts(line) {
            let sum = |words: &[&str]| counts.iter().filter(|(_, word)| words.contains(word)).map(|(count, _)| count).sum();
            self.passed += sum(&["passed"]);
            self.ended(stage, sum(&["failed", "error", "errors"]), sum(&["skipped"]));
        }
        Ok(())
    }

    /// Handles the counts of a text runner. Adds failures and skips that no line has named, without their names.
    fn ended(&mut self, stage: &str, failed: usize, skipped: usize) {
        let TextRunner { named_failures, named_skips } = std::mem::take(&mut self.text);
        for _ in named_failures..failed {
            self.failures.push(Failure { stage: stage.to_owned(), test: "a test without a name".to_owned(), line: String::new() });
        }
        self.skipped.extend((named_skips..skipped).map(|_| "a test that was not named: no reason is given".to_owned()));
    }

    /// Adds the results of a report that another thread has written.
    pub fn append(&mut self, other: Self) {
        self.passed += other.passed;
        self.failures.extend(other.failures);
        self.flaky.extend(other.flaky);
        self.skipped.extend(other.skipped);
        self.elsewhere.extend(other.elsewhere);
        self.lacking.extend(other.lacking);
        self.stages.extend(other.stages);
        self.times.extend(other.times);
    }

    /// Number of tests and checks that passed or failed.
    pub fn n_results(&self) -> usize {
        self.passed + self.failures.len()
    }

    /// Fails if a test failed, if too many tests were flaky, or, if `skips_fail`, if a test was skipped.
    pub fn verdict(&self, skips_fail: bool) -> Result<()> {
        ensure!(self.failures.is_empty(), "{} failed", self.failures.len());
        ensure!(self.flaky.len() <= MAX_FLAKY, "{} tests passed only when they were run again; at most {MAX_FLAKY} may", self.flaky.len());
        ensure!(self.skipped.is_empty() || !skips_fail, "{} skipped, which is a failure where CI=true", self.skipped.len());
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elsewhere.iter().try_for_each(|test| writeln!(f, "not part of this command: {test}"))?;
        self.lacking.iter().try_for_each(|test| writeln!(f, "{test}"))?;
        let mut slowest: Vec<&(f64, String)> = self.times.iter().collect();
        slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
        if !slowest.is_empty() {
            writeln!(f, "the slowest tests:")?;
        }
        slowest.iter().take(SLOWEST_SHOWN).try_for_each(|(seconds, test)| writeln!(f, "{seconds:8.1} s  {test}"))?;
        if !self.stages.is_empty() {
            writeln!(f, "stages:")?;
        }
        self.stages.iter().try_for_each(|(name, time)| writeln!(f, "{:8.1} s  {name}", time.as_secs_f64()))?;
        self.skipped.iter().try_for_each(|test| writeln!(f, "skipped: {test}"))?;
        self.flaky.iter().try_for_each(|Failure { stage, test, line }| writeln!(f, "flaky: {stage}: {test} (first failure: {line})"))?;
        self.failures.iter().try_for_each(|failure| writeln!(f, "failed: {failure}"))?;
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failures.len(), self.skipped.len())
    }
}

/// Name and reason from a line such as `test page::large ... ignored, cargo xtask test --large`.
fn ignored(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    Some((name, rest.strip_prefix(", ").unwrap_or("no reason is given")))
}

/// Name and message of a failed test, from a line of `cargo test` such as `test page::large ... FAILED`, or of pytest such as `FAILED
/// tests/test_x.py::test_x - reason`.
fn failed(line: &str) -> Option<(&str, &str)> {
    if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED").or(rest.strip_suffix(" ... FAIL"))) {
        return Some((name, ""));
    }
    let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
    Some(rest.split_once(" - ").unwrap_or((rest, "")))
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

    fn report(lines: &[&str]) -> Report {
        let mut report = Report::default();
        lines.iter().for_each(|line| report.read("native", line).unwrap());
        report
    }

    #[test]
    fn last_line_counts_and_lines_above_give_reasons() {
        let expected = "not part of this command: a_large_model: cargo xtask test --large\n\
                        skipped: on_a_tablet: there is no tablet\n\
                        12 passed, 0 failed, 1 skipped";
        assert_eq!(report(&LINES).to_string(), expected);
    }

    #[test]
    fn last_lines_name_each_failure_with_its_message() {
        let mut report = report(&["FAILED tests/test_x.py::test_x - no reason", "1 failed in 0.50s"]);
        report.fail("chromium", "whole_page", "waited in vain for the answer\nand more");
        report.check("format", Err(anyhow::anyhow!("a line is too long")));
        report.flaky.push(Failure { stage: "webkit".into(), test: "keyboard::fingers".into(), line: "a click was lost".into() });
        let expected = "flaky: webkit: keyboard::fingers (first failure: a click was lost)\n\
                        failed: native: tests/test_x.py::test_x (no reason)\n\
                        failed: chromium: whole_page (waited in vain for the answer)\n\
                        failed: check: format (a line is too long)\n\
                        0 passed, 3 failed, 0 skipped";
        assert_eq!(report.to_string(), expected);
    }

    #[test]
    fn skip_is_failure_only_where_ci_asks() {
        assert!(report(&LINES).verdict(false).is_ok() && report(&LINES).verdict(true).is_err());
        assert!(report(&LINES[..2]).verdict(true).is_ok(), "a test of another command is not skipped");
        let failed = report(&["test result: FAILED. 12 passed; 3 failed; 0 ignored"]);
        assert_eq!(failed.failures.len(), 3);
        assert!(failed.verdict(false).is_err());
    }

    #[test]
    fn few_flaky_tests_pass_and_more_fail() {
        let flaky = |count| {
            let failure = Failure { stage: "webkit".into(), test: "a".into(), line: "b".into() };
            Report { flaky: vec![failure; count], ..Report::default() }
        };
        assert!(flaky(MAX_FLAKY).verdict(true).is_ok());
        assert!(flaky(MAX_FLAKY + 1).verdict(true).is_err());
    }

    #[test]
    fn test_ignored_without_reason_or_name_is_skipped() {
        let lines = ["test on_a_tablet ... ignored", "test result: ok. 0 passed; 0 failed; 2 ignored"];
        let expected = ["on_a_tablet: no reason is given", "a test that was not named: no reason is given"];
        assert_eq!(report(&lines).skipped, expected);
    }

    #[test]
    fn python_tests_count_like_others() {
        let lines = [
            "SKIPPED [2] tests/test_x.py:3: there is no tablet",
            "SKIPPED [1] tests/test_live.py:1: GLASSCAGE_LIVE=1 pytest",
            "1 failed, 7 passed, 4 skipped, 1 error in 0.50s",
        ];
        let report = report(&lines);
        assert_eq!((report.passed, report.failures.len(), report.skipped.len(), report.elsewhere.len()), (7, 2, 3, 1));
    }

    #[test]
    fn failed_stage_is_a_failure_and_later_stages_run() {
        let mut report = Report::default();
        report.stage("firefox", |_| anyhow::bail!("it could not be installed"));
        report.stage("python", |report| {
            report.check("wheel", Ok(()));
            Ok(())
        });
        assert_eq!(report.failures[0].to_string(), "firefox: the stage itself (it could not be installed)");
        assert_eq!(report.passed, 1);
    }
}
