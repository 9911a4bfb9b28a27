//! Programs that print the results of their tests as text.

use std::io::BufReader;
use std::process::{Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;

use anyhow::{Context, Result, bail, ensure};

use super::programs::{SILENCE, lines};
use super::report::Report;
use crate::test_environment::with_test_environment;

/// Runs a program that prints its results as text. Shows its output, and adds its results to the report.
pub fn count(report: &mut Report, stage: &str, command: &mut Command) -> Result<()> {
    with_test_environment(command);
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the tests")?;
    let (n_before, n_failed_before) = (report.n_results(), report.failures.len());
    let lines = lines(BufReader::new(child.stdout.take().context("the tests have no output")?));
    loop {
        match lines.recv_timeout(SILENCE) {
            Ok(line) => {
                println!("{line}");
                report.read(stage, &line)?;
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill().ok();
                child.wait().ok();
                bail!("the tests said nothing for {} minutes and were ended", SILENCE.as_secs() / 60);
            }
        }
    }
    // A failed build or run has no result line of its own.
    let status = child.wait().context("the tests have no end")?;
    if !status.success() && report.failures.len() == n_failed_before {
        bail!("the tests failed ({status})");
    }
    ensure!(report.n_results() > n_before, "not one test was run");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_test_run_is_an_error() {
        let mut report = Report::default();
        let result =
            count(&mut report, "native", Command::new("echo").arg("test result: ok. 0 passed; 0 failed; 0 ignored; 9 filtered out"));
        assert!(result.is_err());
        assert_eq!(report.passed, 0);
    }
}
