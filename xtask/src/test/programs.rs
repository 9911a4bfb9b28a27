//! Test programs. Cargo builds each program once. Each program runs separately, so that names, times and messages of its tests are
//! available as data, and single tests can be repeated.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::report::{Failure, Report};
use crate::command::build;
use crate::setup::Tools;
use crate::test_environment::with_test_environment;

/// Maximum time without output: far longer than the slowest test takes on a slow machine. Ends only programs that hang.
pub const SILENCE: Duration = Duration::from_secs(20 * 60);
/// Maximum number of failed tests that are repeated. More failures are not a coincidence.
const MAX_REPEATED: usize = 6;

/// Maximum length of the first line of a message, in characters.
const LONGEST_LINE: usize = 240;

/// A test program that cargo has built.
pub struct Program {
    /// Package and target, such as `glasscage page`.
    pub name: String,
    file: PathBuf,
    /// Folder of the package, which the tests expect as working directory.
    folder: PathBuf,
}

/// How to run a program.
#[derive(Default)]
pub struct Run<'a> {
    /// Name for the results, such as `chromium`.
    pub stage: &'a str,
    /// Arguments for libtest, such as filters.
    pub arguments: &'a [&'a str],
    pub environment: &'a [(&'a str, String)],
    /// Whether a failed test runs once more alone, for tests that depend on a browser.
    pub repeats_failures: bool,
}

/// How a test ended.
#[derive(Debug, PartialEq)]
enum Outcome {
    Passed,
    /// With the output of the test.
    Failed(String),
    /// With the reason.
    Ignored(String),
}

/// One line of libtest's JSON.
#[derive(Debug, PartialEq)]
enum Event {
    Started(String),
    Ended {
        test: String,
        outcome: Outcome,
        seconds: Option<f64>,
    },
    SuiteEnded {
        passed: bool,
    },
    /// Does not change results, such as a note that a test is slow.
    Notice,
    /// Not JSON: output of the program.
    Text,
}

/// Builds the test programs of the workspace. Sorts fast programs first.
pub fn build_all(native: &Tools, arguments: &[&str]) -> Result<Vec<Program>> {
    build_in(native, crate::command::root(), &build().join("target"), arguments)
}

/// Builds the test programs of a checkout into the folder `target`.
pub fn build_in(native: &Tools, checkout: &Path, target: &Path, arguments: &[&str]) -> Result<Vec<Program>> {
    let cargo = [&["test", "--locked"], arguments, &["--no-run", "--message-format", "json-render-diagnostics"]].concat();
    let mut command = native.command("cargo", &cargo)?;
    println!("$ cargo {}", cargo.join(" "));
    let output =
        command.current_dir(checkout).env("CARGO_TARGET_DIR", target).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut programs: Vec<Program> = text.lines().filter_map(|line| program(checkout, line)).collect();
    ensure!(output.status.success(), "the test programs cannot be built: see the compiler's message above");
    ensure!(!programs.is_empty(), "cargo has built no test programs");
    programs.sort_by_key(|program| rank(&program.name));
    Ok(programs)
}

/// A program, from a message of cargo about a test that it has built.
fn program(checkout: &Path, line: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let file = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    let is_root = folder == checkout;
    let target = message["target"]["name"].as_str()?;
    let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
    let target = if matches!(kind, "lib" | "cdylib" | "rlib") { "lib" } else { target };
    let name = if is_root { target.to_owned() } else { format!("{package} {target}") };
    Some(Program { name, file, folder })
}

/// Fast programs first, then programs that compute, then browser tests.
fn rank(name: &str) -> usize {
    const ORDER: [&str; 6] = ["tidy", "lib", "engine lib", "native", "bench", "page"];
    ORDER.iter().position(|&known| known == name).map_or(1, |place| if place == 0 { 0 } else { place + 1 })
}

impl Program {
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Runs it, prints each result, and adds all of them to the report.
    pub fn run(&self, report: &mut Report, run: &Run<'_>) -> Result<()> {
        let mut failed = Vec::new();
        let n_before = report.n_results();
        let executed = self.execute(run, run.arguments, &mut |event| {
            let Event::Ended { test, outcome, seconds } = event else { return };
            seconds.inspect(|&seconds| report.took(run.stage, &test, seconds));
            println!("{}: {test} ... {}{}", run.stage, word(&outcome), seconds.map_or_else(String::new, |s| format!(" ({s:.1} s)")));
            match outcome {
                Outcome::Passed => report.passed += 1,
                Outcome::Ignored(reason) => report.ignored(&test, &reason),
                Outcome::Failed(output) => failed.push((test, output)),
            }
        });
        let repeats = run.repeats_failures && failed.len() <= MAX_REPEATED;
        for (test, output) in failed {
            let line = first_line(&output);
            let log = self.keep(run.stage, &test, "first", &output)?;
            if repeats && self.passes_when_run_again(run, &test)? {
                report.passed += 1;
                println!("{}: {test} passed when it was run again; first failure: {line} (all of it in {})", run.stage, log.display());
                report.flaky.push(Failure { stage: run.stage.to_owned(), test, line });
            } else {
                println!("{output}");
                report.failures.push(Failure { stage: run.stage.to_owned(), test, line });
            }
        }
        // A program that broke off has failed tests, too: they are reported first.
        executed?;
        ensure!(report.n_results() > n_before, "not one test of {} was run", self.name);
        Ok(())
    }

    /// Runs one test alone in a new program, and therefore in a new browser.
    fn passes_when_run_again(&self, run: &Run<'_>, test: &str) -> Result<bool> {
        println!("{}: {test} is run once more", run.stage);
        let mut outcome = None;
        let executed = self.execute(run, &["--exact", test, "--include-ignored"], &mut |event| {
            if let Event::Ended { outcome: ended, .. } = event {
                outcome = Some(ended);
            }
        });
        if let Err(problem) = &executed {
            println!("{}: {problem}", run.stage);
        }
        if let Some(Outcome::Failed(output)) = &outcome {
            self.keep(run.stage, test, "second", output)?;
        }
        Ok(executed.is_ok() && outcome == Some(Outcome::Passed))
    }

    /// Runs the program to its end and passes on each event. If the program crashes, the test that was running has failed.
    fn execute(&self, run: &Run<'_>, arguments: &[&str], take: &mut dyn FnMut(Event)) -> Result<()> {
        let mut command = Command::new(&self.file);
        command.args(["-Z", "unstable-options", "--format", "json", "--report-time"]).args(arguments).current_dir(&self.folder);
        // libtest's JSON output is unstable. Only this process sees the variable, not the build of its dependencies.
        command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_MANIFEST_DIR", &self.folder).envs(run.environment.iter().map(|(k, v)| (k, v)));
        with_test_environment(&mut command);
        let mut child =
            command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().with_context(|| format!("cannot start {}", self.name))?;
        let output = BufReader::new(child.stdout.take().context("the tests have no output")?);
        let lines = lines(output);
        let mut running = BTreeSet::new();
        let mut has_passed = None;
        let hung = loop {
            let line = match lines.recv_timeout(SILENCE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => break false,
                Err(RecvTimeoutError::Timeout) => break true,
            };
            let event = event(&line);
            match &event {
                Event::Started(test) => _ = running.insert(test.clone()),
                Event::Ended { test, .. } => _ = running.remove(test),
                Event::SuiteEnded { passed } => has_passed = Some(*passed),
                Event::Text => println!("{line}"),
                Event::Notice => {}
            }
            take(event);
        };
        if hung {
            child.kill().ok();
        }
        let status = child.wait()?;
        for test in running {
            let why = if hung {
                format!("the program said nothing for {} minutes and was ended", SILENCE.as_secs() / 60)
            } else {
                format!("the program broke off ({status})")
            };
            take(Event::Ended { test, outcome: Outcome::Failed(why), seconds: None });
        }
        match has_passed {
            None => bail!("{} broke off ({status})", self.name),
            // The program may crash after its tests.
            Some(true) if !status.success() => bail!("the tests of {} passed, but it failed ({status})", self.name),
            Some(_) => Ok(()),
        }
    }

    /// Writes the output of a failed test to a file.
    fn keep(&self, stage: &str, test: &str, which: &str, output: &str) -> Result<PathBuf> {
        let folder = build().join("failures");
        fs::create_dir_all(&folder)?;
        let file = folder.join(format!("{stage}-{}-{which}.txt", test.replace("::", "-")));
        fs::write(&file, output).with_context(|| file.display().to_string())?;
        Ok(file)
    }
}

/// Lines of this output, as they come.
pub fn lines(output: impl BufRead + Send + 'static) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || read_lines(output, &sender));
    lines
}

/// Sends lines, including those that are not valid UTF-8.
fn read_lines(mut output: impl BufRead, sender: &mpsc::Sender<String>) {
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if sender.send(text).is_err() {
            return;
        }
        line.clear();
    }
}

fn event(line: &str) -> Event {
    let Ok(json) = serde_json::from_str::<Value>(line) else { return Event::Text };
    let name = || json["name"].as_str().unwrap_or_default().to_owned();
    let outcome = match (json["type"].as_str(), json["event"].as_str()) {
        (Some("test"), Some("started")) => return Event::Started(name()),
        (Some("suite"), Some(end @ ("ok" | "failed"))) => return Event::SuiteEnded { passed: end == "ok" },
        (Some("test"), Some("ok")) => Outcome::Passed,
        (Some("test"), Some("ignored")) => Outcome::Ignored(json["message"].as_str().unwrap_or("no reason is given").to_owned()),
        (Some("test"), Some("failed")) => {
            let output = json["stdout"].as_str().or(json["message"].as_str()).unwrap_or_default();
            Outcome::Failed(output.to_owned())
        }
        (Some(_), _) => return Event::Notice,
        _ => return Event::Text,
    };
    Event::Ended { test: name(), outcome, seconds: json["exec_time"].as_f64() }
}

fn word(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Passed => "ok",
        Outcome::Failed(_) => "FAILED",
        Outcome::Ignored(_) => "not run",
    }
}

/// The first line of a panic message, or of the output if nothing panicked.
fn first_line(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let panic = lines.iter().position(|line| line.contains(" panicked at "));
    let line = panic.and_then(|at| lines.get(at + 1)).or(lines.first()).map_or("", |line| line.trim());
    line.chars().take(LONGEST_LINE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_libtest_are_read() {
        assert_eq!(event(r#"{ "type": "test", "event": "started", "name": "a::b" }"#), Event::Started("a::b".into()));
        let ended = |outcome, seconds| Event::Ended { test: "a::b".into(), outcome, seconds };
        assert_eq!(event(r#"{ "type": "test", "name": "a::b", "event": "ok", "exec_time": 0.5 }"#), ended(Outcome::Passed, Some(0.5)));
        let ignored = r#"{ "type": "test", "name": "a::b", "event": "ignored", "message": "cargo xtask bench" }"#;
        assert_eq!(event(ignored), ended(Outcome::Ignored("cargo xtask bench".into()), None));
        let failed = r#"{ "type": "test", "name": "a::b", "event": "failed", "exec_time": 1.0, "stdout": "x\n" }"#;
        assert_eq!(event(failed), ended(Outcome::Failed("x\n".into()), Some(1.0)));
        assert_eq!(event(r#"{ "type": "suite", "event": "failed", "passed": 1 }"#), Event::SuiteEnded { passed: false });
        assert_eq!(event(r#"{ "type": "suite", "event": "started", "test_count": 1 }"#), Event::Notice);
        assert_eq!(event("wgpu says something"), Event::Text);
    }

    #[test]
    fn message_of_a_panic_is_its_first_line() {
        let output = "some print\n\nthread 'a::b' (12) panicked at tests/page/steps.rs:3:5:\nwaited in vain for G1\nnote: run with ...\n";
        assert_eq!(first_line(output), "waited in vain for G1");
        assert_eq!(first_line("Error: it is broken\n"), "Error: it is broken");
        assert_eq!(first_line(""), "");
    }

    /// A program of which one test fails and another one ends the process.
    #[test]
    fn failures_of_a_program_that_breaks_off_are_reported() {
        let folder = crate::command::root().join("xtask/src/test");
        let program = Program { name: "page".into(), file: folder.join("breaks_off.sh"), folder };
        let mut report = Report::default();
        let problem = program.run(&mut report, &Run { stage: "breaks off", ..Run::default() }).unwrap_err();
        assert!(problem.to_string().starts_with("page broke off"), "{problem}");
        let failures: Vec<_> = report.failures.iter().map(|failure| (&*failure.test, &*failure.line)).collect();
        assert_eq!(failures, [("fails", "Error: wrong"), ("aborts", "the program broke off (exit status: 134)")]);
    }

    /// A program that crashes after its tests have passed.
    #[test]
    fn crash_after_passed_tests_is_an_error() {
        let folder = crate::command::root().join("xtask/src/test");
        let program = Program { name: "page".into(), file: folder.join("crashes_at_end.sh"), folder };
        let mut report = Report::default();
        let problem = program.run(&mut report, &Run { stage: "crashes at its end", ..Run::default() }).unwrap_err();
        assert_eq!((report.passed, report.failures.len()), (1, 0));
        assert!(problem.to_string().ends_with("failed (exit status: 134)"), "{problem}");
    }

    #[test]
    fn tidy_comes_first_and_the_page_last() {
        let mut names = ["page", "native", "engine lib", "core lib", "bench", "lib", "xtask xtask", "tidy"];
        names.sort_by_key(|name| rank(name));
        assert_eq!(names, ["tidy", "core lib", "xtask xtask", "lib", "engine lib", "native", "bench", "page"]);
    }
}
