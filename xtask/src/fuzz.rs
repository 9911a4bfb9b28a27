//! `cargo xtask fuzz`: hostile input for all that reads what strangers send, invented by libFuzzer (`tests/fuzz`). On stable Rust: what
//! guides it is instrumentation by LLVM, which the compiler's stable options reach; they are those of cargo-fuzz without a sanitizer.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::command::{build, find, output, root, run};
use crate::outcome::Outcome;
use crate::setup;

const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";
/// No single input may take longer (seconds), the process more memory, nor one allocation (MB): beside other work, to which it gives way,
/// this is thirty times slower than the second that is allowed.
const LIMITS: [&str; 3] = ["-timeout=30", "-rss_limit_mb=2048", "-malloc_limit_mb=512"];
/// Gives way to all other work.
const NICE: [&str; 2] = ["-n", "19"];
/// Which target the program runs; without it, it names them.
const TARGET: &str = "GLASSCAGE_FUZZ_TARGET";
/// Words that a target's inputs are made of.
const DICTIONARIES: [(&str, &str); 4] = [("files", "json"), ("library", "json"), ("messages", "json"), ("template", "template")];
/// Run side by side.
const AT_ONCE: usize = 2;

#[derive(Args)]
pub struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Inputs for each target at most, however long they take
    #[arg(long)]
    runs: Option<u64>,
    /// Only these
    targets: Vec<String>,
}

/// A built program and its folder.
struct Fuzzer {
    program: PathBuf,
    /// Logs, inputs that found new ways, and findings.
    folder: PathBuf,
    limit: String,
}

pub fn fuzz(options: &Options) -> Result<()> {
    let limit = options.runs.map_or(format!("-max_total_time={}", options.seconds), |runs| format!("-runs={runs}"));
    let fuzzer = Fuzzer::build("fuzz-runs", limit)?;
    let all = fuzzer.targets()?;
    if let Some(unknown) = options.targets.iter().find(|target| !all.contains(target)) {
        bail!("there is no target {unknown}; there are {}", all.join(", "));
    }
    fuzzer.run_all(if options.targets.is_empty() { all } else { options.targets.clone() })
}

/// A minute of each target, where this machine can build the program. It begins with the corpus of the repository, whatever was found here
/// before, so that every machine sees the same.
pub fn check() -> Result<Outcome> {
    if find("c++").is_none() {
        return Ok(Outcome::Skipped("there is no C++ compiler for libFuzzer".into()));
    }
    let folder = "fuzz-check";
    fs::remove_dir_all(build().join(folder)).or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })?;
    let fuzzer = Fuzzer::build(folder, "-max_total_time=60".into())?;
    fuzzer.run_all(fuzzer.targets()?)?;
    Ok(Outcome::Checked)
}

impl Fuzzer {
    fn build(folder: &str, limit: String) -> Result<Self> {
        let native = setup::native();
        let version = output(&mut native.command("rustc", &["-vV"])?)?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
        let target_folder = build().join("fuzz");
        // With a target, the flags do not reach build scripts.
        let cargo = ["cargo", "build", "--release", "--target", host, "--manifest-path", "tests/fuzz/Cargo.toml"];
        let mut command = native.command("nice", &[&NICE[..], &cargo].concat())?;
        run(command.env("RUSTFLAGS", FLAGS).env("CARGO_TARGET_DIR", &target_folder))?;
        Ok(Self { program: target_folder.join(host).join("release/fuzz"), folder: build().join(folder), limit })
    }

    fn targets(&self) -> Result<Vec<String>> {
        Ok(output(Command::new(&self.program).env_remove(TARGET))?.lines().map(str::to_owned).collect())
    }

    /// All targets, the first finding of each.
    fn run_all(&self, targets: Vec<String>) -> Result<()> {
        let left = Mutex::new(targets.into_iter());
        let next = || left.lock().ok()?.next();
        let failed: Vec<String> = thread::scope(|scope| {
            let runner =
                || std::iter::from_fn(next).filter_map(|target| self.run(&target).err().map(|error| format!("{error:#}"))).collect();
            let runners: Vec<thread::ScopedJoinHandle<'_, Vec<String>>> = (0..AT_ONCE).map(|_| scope.spawn(runner)).collect();
            runners.into_iter().flat_map(|runner| runner.join().unwrap_or_else(|_| vec!["a thread panicked".into()])).collect()
        });
        ensure!(failed.is_empty(), "{}", failed.join("\n"));
        Ok(())
    }

    fn run(&self, target: &str) -> Result<()> {
        let [found, findings] = ["found", "findings"].map(|name| self.folder.join(target).join(name));
        fs::create_dir_all(&found)?;
        fs::create_dir_all(&findings)?;
        let log_file = self.folder.join(target).join("log");
        let log = File::create(&log_file)?;
        let mut command = Command::new("nice");
        command.args(NICE).arg(&self.program).env(TARGET, target).args(LIMITS).args([&self.limit, "-seed=1", "-print_final_stats=1"]);
        command.arg(format!("-artifact_prefix={}/", findings.display())).arg(&found);
        let sources = root().join("tests/fuzz");
        let corpus = sources.join("corpus").join(target);
        command.args(corpus.is_dir().then_some(corpus));
        if let Some((_, words)) = DICTIONARIES.iter().find(|(known, _)| *known == target) {
            command.arg(format!("-dict={}", sources.join("dictionaries").join(words).display()));
        }
        let status = command.stdout(log.try_clone()?).stderr(log).status()?;
        let text = fs::read_to_string(&log_file).unwrap_or_default();
        ensure!(status.success(), "{target}: {} (all of it in {})", reason(&text), log_file.display());
        let inputs = statistic(&text, "number_of_executed_units").with_context(|| format!("{target} was not run"))?;
        println!("fuzz {target}: {inputs} inputs");
        Ok(())
    }
}

/// Why it stopped, and how to see it again.
fn reason(log: &str) -> String {
    let is_told = |line: &&str| line.contains("panicked at") || line.starts_with("SUMMARY:") || line.contains("Test unit written to");
    let lines: Vec<&str> = log.lines().filter(is_told).collect();
    if lines.is_empty() { log.lines().last().unwrap_or("it says nothing").to_owned() } else { lines.join("; ") }
}

/// A figure of libFuzzer's last lines.
fn statistic<'a>(log: &'a str, name: &str) -> Option<&'a str> {
    let line = log.lines().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
    line.map(|rest| rest.trim_start_matches(':').trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libfuzzer_says_is_read() {
        let log = "#2 INITED\nthread panicked at src/a.rs:1:2:\nSUMMARY: libFuzzer: deadly signal\nstat::number_of_executed_units: 17\n";
        assert_eq!(statistic(log, "number_of_executed_units"), Some("17"));
        assert_eq!(reason(log), "thread panicked at src/a.rs:1:2:; SUMMARY: libFuzzer: deadly signal");
        assert!(root().join("tests/fuzz/Cargo.toml").is_file());
    }
}
