//! `cargo xtask test`: runs every check that a change must pass, and prints their counts in one line. `cargo xtask test --all` adds slow
//! checks and checks without an end of their own. `cargo xtask check` runs only the first part.

mod count;
pub mod programs;
mod report;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Result, ensure};
use clap::Args;

use crate::browsers::{Browser, IN_WEBKIT, SLOW_PAGE_TESTS, TEST_OF_LARGE_MODELS};
use crate::command::{self, run};
use crate::lock::lock;
use crate::outcome::Outcome;
use crate::real_model::{GEMMA3, SMOLLM2};
use crate::setup::Tools;
use crate::test_environment::natively;
use crate::{build, docs, fuzz, gpu_budgets, minimum_rust, python, random_model, screenshots, setup};
use count::count;
use programs::{Program, Run};
use report::Report;

/// The runner's default limits are too short: 20 s for all tests of a program, less than software needs for the kernels, and 5 s for the
/// driver. The kernels take four minutes on a machine with two cores, and more beside other work.
const SECONDS_IN_A_BROWSER: &str = "2400";
const SECONDS_OF_THE_DRIVER: &str = "120";

/// Disk space that a build from nothing takes, in GB.
const DISK_GIGABYTES: u64 = 12;

/// Number of explanations in `--soak`.
const EXPLANATIONS_OF_SOAK: &str = "300";

/// Native tests that only `cargo xtask test --all` runs. They check how good approximations are, or need a large
/// download.
const SLOW_NATIVE_TESTS: [&str; 4] = [
    "gradients::chosen_width_is_near_best",
    "gradients::sentence_products_rank_like_token_products",
    "real_model::gemma3_answers_and_scores_like_transformers",
    "real_model::gemma3_ids_match_hugging_face",
];

/// Native tests that try more cases in `cargo xtask test --all`.
const NATIVE_TESTS_OF_MANY_CASES: [&str; 7] = [
    "architectures::every_architecture_agrees_with_candle_transformers",
    "architectures::every_architecture_agrees_with_float64",
    "architectures::tensor_types_agree_with_dequantization",
    "families::engines_agree_on_all_families",
    "gradients::pass_differences_match_exact_gradients",
    "kernels::all_compiled_kernels_are_listed",
    "methods::recurrent_layers_need_no_extra_tokens",
];

/// Tells tests to try all of their cases.
const THOROUGH: (&str, &str) = ("GLASSCAGE_THOROUGH", "1");

/// Targets with tests to run. Examples are built only where they are used.
const TARGETS: [&str; 5] = ["--workspace", "--lib", "--bin", "xtask", "--tests"];

/// Packages whose unit tests also run in a browser's worker.
const IN_A_WORKER: [&str; 2] = ["glasscage-engine", "glasscage-session"];

#[derive(Args)]
pub struct Options {
    /// Also run slow checks: all page tests in all browsers, fuzzing by time, hours of use, large models, GPU budgets, screenshots,
    /// documentation
    #[arg(long)]
    all: bool,
    /// Run the test programs this many times, but the checks and builds once
    #[arg(long, default_value_t = NonZeroUsize::MIN)]
    repeat: NonZeroUsize,
    /// Keep all cores busy with other work at the same time
    #[arg(long)]
    busy: bool,
    /// Only test the page with models of 640 and 810 MB with random weights, and every architecture on Chromium's Vulkan driver: several
    /// minutes each
    #[arg(long, conflicts_with = "all")]
    large: bool,
    /// Only explain 300 times in one tab with two models in turn, and check that its memory does not grow: two minutes
    #[arg(long, conflicts_with_all = ["all", "large"])]
    soak: bool,
    /// Only test the Python package: seconds once the command line is built
    #[arg(long, conflicts_with_all = ["all", "large", "soak"])]
    python: bool,
    /// Only run all page tests in this browser: up to half an hour
    #[arg(long, conflicts_with_all = ["all", "large", "soak", "python"])]
    browser: Option<Browser>,
    /// With --browser: run only tests whose names contain this
    #[arg(long, requires = "browser")]
    only: Option<String>,
}

/// Runs the whole test, or the part that the options select.
pub fn test(options: &Options) -> Result<()> {
    let _lock = lock(&command::build().join("lock"), "a test of this checkout")?;
    warn_of_full_disk();
    let mut report = Report::default();
    let busy = options.busy.then(Busy::begin);
    match options {
        Options { large: true, .. } => _ = build_page(&mut report).map(|(programs, dist)| large(&mut report, &programs, &dist)),
        Options { soak: true, .. } => _ = build_page(&mut report).map(|(programs, dist)| soak(&mut report, &programs, &dist)),
        Options { python: true, .. } => python_alone(&mut report),
        Options { browser: Some(browser), only, repeat, .. } => page_in(&mut report, *browser, only.as_deref(), repeat.get()),
        _ => {
            short(&mut report, options.repeat.get());
            if options.all {
                long(&mut report);
            }
        }
    }
    drop(busy);
    println!("{report}");
    report.verdict(is_ci())
}

/// `cargo xtask check`: checks formatting, lints and rules of the code, to run while you write.
pub fn check() -> Result<()> {
    let _lock = lock(&command::build().join("lock"), "a test of this checkout")?;
    let mut report = Report::default();
    checks(&mut report);
    report.stage("tidy", |report| {
        let programs = programs::build_all(&setup::native(), &["--workspace", "--test", "tidy"])?;
        programs.iter().try_for_each(|program| program.run(report, &Run { stage: "tidy", ..Run::default() }))
    });
    println!("{report}");
    report.verdict(is_ci())
}

/// Warns if a build from nothing may not fit on the disk, because compilers do not always say so when a disk is full.
fn warn_of_full_disk() {
    let build = command::build();
    let existing = build.ancestors().find(|folder| folder.exists()).unwrap_or(command::root());
    let free = command::output(command::command("df", &["--output=avail", "--block-size=1GB"]).arg(existing));
    let free = free.ok().and_then(|text| text.lines().nth(1)?.trim().parse::<u64>().ok());
    if let Some(free) = free.filter(|&free| free < DISK_GIGABYTES && !build.join("target").exists()) {
        println!("warning: the build takes about {DISK_GIGABYTES} GB, and {} has {free} GB left", existing.display());
    }
}

fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| ci == "true")
}

fn checks(report: &mut Report) {
    let native = setup::native();
    let cargo = |arguments: &[&str]| native.command("cargo", arguments).and_then(|mut command| run(&mut command));
    report.stage("format and lints", |report| {
        report.check("format", cargo(&["fmt", "--all", "--check"]));
        report.check("format of the fuzzer", cargo(&["fmt", "--manifest-path", "tests/fuzz/Cargo.toml", "--check"]));
        report.check("clippy", cargo(&["clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"]));
        Ok(())
    });
}

/// Runs everything that a change must pass: cheap checks first, then one build, then programs in order of cost.
fn short(report: &mut Report, repeat: usize) {
    // In parallel, because much of an installation waits for downloads.
    let installed = thread::scope(|scope| {
        let installed = scope.spawn(|| (SMOLLM2.download(), setup::browser(Browser::Chromium).and_then(|_| setup::web())));
        checks(report);
        installed.join().expect("no thread panics")
    });
    let mut programs = Vec::new();
    let dist = command::build().join("dist");
    report.stage("build", |report| {
        let (real_model, web) = installed;
        report.check("real model", real_model);
        let (native, web) = (setup::native(), web?);
        // In parallel, because much of linking and optimizing the page runs on one core.
        let (page, native) = thread::scope(|scope| {
            let page = scope.spawn(|| build::page(&web, &dist).and_then(|sizes| sizes.check()));
            let native = programs::build_all(&native, &TARGETS);
            (page.join().expect("no thread panics"), native)
        });
        report.check("page", page);
        programs = native?;
        Ok(())
    });
    for round in 0..repeat {
        if repeat > 1 {
            println!("== round {} of {repeat}", round + 1);
        }
        test_programs(report, &programs, &dist);
    }
}

fn test_programs(report: &mut Report, programs: &[Program], dist: &Path) {
    let page = named(programs, "page");
    // Each of these stages mostly uses one core, so that other programs can use the rest.
    let mut in_parallel = Report::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            worker_and_python(&mut in_parallel);
            let in_webkit = Selection { only: &IN_WEBKIT, one_at_a_time: true, ..Selection::default() };
            if let Some(page) = page {
                in_parallel.stage("webkit", |report| in_browser(report, page, Browser::WebKit, dist, &in_webkit));
            }
        });
        native_programs(report, programs, dist);
        let in_chromium = Selection { left_out: &SLOW_PAGE_TESTS, ..Selection::default() };
        if let Some(page) = page {
            report.stage("chromium", |report| in_browser(report, page, Browser::Chromium, dist, &in_chromium));
        }
    });
    report.append(in_parallel);
}

/// Runs all test programs except those of the page.
fn native_programs(report: &mut Report, programs: &[Program], dist: &Path) {
    let mut environment = vec![("GLASSCAGE_DIST", dist.display().to_string())];
    if let Ok(web) = setup::web() {
        environment.push(("GLASSCAGE_WASM_RUSTC", web.program("rustc").display().to_string()));
    }
    for program in programs.iter().filter(|program| program.name != "page") {
        let slow = if program.name == "native" { &SLOW_NATIVE_TESTS[..] } else { &[] };
        let arguments: Vec<&str> = slow.iter().flat_map(|test| ["--skip", test]).collect();
        let run = Run { stage: &program.name, arguments: &arguments, environment: &environment, ..Run::default() };
        report.stage(&program.name, |report| program.run(report, &run));
        report.elsewhere.extend(slow.iter().map(|test| format!("{}: {test}: cargo xtask test --all", program.name)));
    }
}

fn worker_and_python(report: &mut Report) {
    report.stage("engine in a worker", |report| {
        let mut command = in_a_worker(&setup::web()?)?;
        count(report, "engine in a worker", &mut command)
    });
    report.stage("examples in the documentation", |report| {
        let mut command = natively(&setup::native(), &["--locked", "--workspace", "--doc", "--no-fail-fast"])?;
        count(report, "documentation", &mut command)
    });
    // The build of the test programs includes the command line.
    report.stage("python", |report| count(report, "python", &mut python::tests(&command_line())?));
}

/// Checks that the short command omits.
fn long(report: &mut Report) {
    report.stage("documentation", |report| {
        // With examples, cargo selects the same features as for clippy, including test features, so that no dependency is checked again.
        let targets = ["--lib", "--bin", "app", "--bin", "viewer", "--bin", "engine", "--bin", "xtask", "--examples"];
        let mut command = setup::native().command("cargo", &[&["doc", "--locked", "--workspace", "--no-deps"][..], &targets].concat())?;
        report.check("documentation", run(command.env("RUSTDOCFLAGS", "--deny warnings")));
        report.check("documentation site", docs::build(&command::build().join("docs")));
        Ok(())
    });
    report.stage("minimum Rust", |report| check_where_possible(report, "minimum Rust", minimum_rust::check()));
    let Some((programs, dist)) = build_page(report) else { return };
    let (Some(page), Some(native)) = (named(&programs, "page"), named(&programs, "native")) else { return };
    report.check("second real model", GEMMA3.download());
    report.stage("python with transformers", |report| {
        count(report, "python with transformers", &mut python::tests_with_transformers(&command_line())?)
    });
    report.stage("commands in the documentation", |report| {
        report.check("commands in the documentation", docs::blocks::run(&command_line(), &dist));
        Ok(())
    });
    report.stage("slow native tests", |report| {
        let arguments = [&SLOW_NATIVE_TESTS[..], &NATIVE_TESTS_OF_MANY_CASES].concat();
        let environment = [(THOROUGH.0, THOROUGH.1.to_owned())];
        native.run(report, &Run { stage: "slow native", arguments: &arguments, environment: &environment, repeats_failures: false })
    });
    for browser in Browser::ALL {
        report.stage(&format!("all page tests in {browser}"), |report| {
            in_browser(report, page, browser, &dist, &Selection { is_thorough: true, ..Selection::default() })
        });
    }
    report.stage("fuzzing", |report| check_where_possible(report, "fuzzing", fuzz::check()));
    report.stage("gpu budgets", |report| check_where_possible(report, "gpu budgets", gpu_budgets::check(&setup::native())));
    soak(report, &programs, &dist);
    large(report, &programs, &dist);
    report.stage("screenshots", |report| {
        report.check("screenshots", screenshots::run_all(&screenshots::Options::default()));
        Ok(())
    });
}

/// Runs a check that not every machine supports. CI supports it, so a skip is a failure there.
fn check_where_possible(report: &mut Report, name: &str, result: Result<Outcome>) -> Result<()> {
    match result {
        Ok(Outcome::Skipped(reason)) => report.skipped.push(format!("{name}: {reason}")),
        done => report.check(name, done.map(drop)),
    }
    Ok(())
}

/// The test program with this name.
fn named<'a>(programs: &'a [Program], name: &str) -> Option<&'a Program> {
    programs.iter().find(|program| program.name == name)
}

/// Builds the test programs and the release page. Returns `None` if that fails, after it has reported the failure.
fn build_page(report: &mut Report) -> Option<(Vec<Program>, PathBuf)> {
    let mut built = None;
    report.stage("build of the page", |_| {
        setup::browser(Browser::Chromium)?;
        SMOLLM2.download()?;
        let dist = command::build().join("dist");
        build::page(&setup::web()?, &dist)?;
        let programs = programs::build_all(&setup::native(), &TARGETS)?;
        ensure!(["page", "native"].iter().all(|name| named(&programs, name).is_some()), "cargo has not built all test programs");
        built = Some((programs, dist));
        Ok(())
    });
    built
}

/// Selects the page tests to run.
#[derive(Default)]
struct Selection<'a> {
    /// Only tests whose names contain one of these; all tests if empty.
    only: &'a [&'a str],
    /// Tests to omit, because another command runs them.
    left_out: &'a [&'a str],
    /// Whether each test tries all of its cases.
    is_thorough: bool,
    /// Whether only one browser runs at a time, to leave room for other stages.
    one_at_a_time: bool,
}

/// Runs the selected page tests in a browser, except those that the browser cannot pass.
fn in_browser(report: &mut Report, page: &Program, browser: Browser, dist: &Path, selection: &Selection<'_>) -> Result<()> {
    let Selection { only, left_out, is_thorough, one_at_a_time } = *selection;
    let tools = setup::browser(browser)?;
    // Tests in Chromium often wait, so two more than there are cores keep all cores busy.
    let n_cores = thread::available_parallelism().map_or(2, usize::from);
    let n_waiting = if browser == Browser::Chromium { 2 } else { 0 };
    let n_browsers = if one_at_a_time { 1 } else { n_cores + n_waiting }.to_string();
    let skips = browser.unsupported().iter().map(|(test, _)| *test).chain(left_out.iter().copied()).flat_map(|test| ["--skip", test]);
    let arguments: Vec<&str> = only.iter().copied().chain(skips).chain(["--test-threads", &n_browsers]).collect();
    let mut environment =
        vec![("GLASSCAGE_DIST", dist.display().to_string()), ("GLASSCAGE_BROWSER", browser.to_string()), ("PATH", tools.path()?)];
    if is_thorough {
        environment.push((THOROUGH.0, THOROUGH.1.to_owned()));
    }
    // The short command uses the browser that starts fastest; `--all` uses the one that visitors have.
    if let (Browser::Chromium, false, Some(shell)) = (browser, is_thorough, setup::headless_shell()) {
        environment.push(("GLASSCAGE_HEADLESS_SHELL", shell.display().to_string()));
    }
    let stage = browser.to_string();
    page.run(report, &Run { stage: &stage, arguments: &arguments, environment: &environment, repeats_failures: true })?;
    if only.is_empty() {
        report.lacking.extend(browser.unsupported().iter().map(|(test, reason)| format!("not in {browser}: {test}: {reason}")));
    }
    report.elsewhere.extend(left_out.iter().map(|test| format!("in {browser}: {test}: cargo xtask test --all")));
    Ok(())
}

/// `cargo test` for tests that run in a browser's worker.
fn in_a_worker(web: &Tools) -> Result<Command> {
    let packages = IN_A_WORKER.into_iter().flat_map(|package| ["--package", package]);
    let arguments: Vec<&str> =
        ["test", "--locked", "--profile", "engine", "--target", setup::WASM, "--lib"].into_iter().chain(packages).collect();
    let mut command = web.command("cargo", &arguments)?;
    // As for the page, or each of the two builds would undo the other.
    command.env(build::VERSION, build::version());
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", "wasm-bindgen-test-runner");
    // Each program runs in the folder of its package.
    command.env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", command::root().join("webdriver.json"));
    command.env("WASM_BINDGEN_TEST_TIMEOUT", SECONDS_IN_A_BROWSER).env("WASM_BINDGEN_TEST_DRIVER_TIMEOUT", SECONDS_OF_THE_DRIVER);
    Ok(command)
}

fn large(report: &mut Report, programs: &[Program], dist: &Path) {
    let (Some(page), Some(native)) = (named(programs, "page"), named(programs, "native")) else { return };
    report.stage("large models", |report| {
        // One model with attention in all layers, and one with mostly recurrent layers.
        for shape in ["0.6b", "0.8b"] {
            let model = random_model::make(&setup::native(), shape, "Q8_0")?.display().to_string();
            let environment = [("GLASSCAGE_DIST", dist.display().to_string()), ("GLASSCAGE_LARGE_MODEL", model)];
            let arguments = [TEST_OF_LARGE_MODELS, "--ignored", "--nocapture"];
            page.run(report, &Run { stage: "large models", arguments: &arguments, environment: &environment, repeats_failures: false })?;
        }
        let environment = [("VK_ICD_FILENAMES", swiftshader()?.display().to_string())];
        let arguments = ["every_architecture_agrees_with_float64"];
        native.run(report, &Run { stage: "swiftshader", arguments: &arguments, environment: &environment, repeats_failures: false })
    });
}

fn soak(report: &mut Report, programs: &[Program], dist: &Path) {
    let Some(page) = named(programs, "page") else { return };
    report.stage("soak", |report| {
        let explanations = std::env::var("GLASSCAGE_SOAK").unwrap_or_else(|_| EXPLANATIONS_OF_SOAK.to_owned());
        let environment = [("GLASSCAGE_DIST", dist.display().to_string()), ("GLASSCAGE_SOAK", explanations)];
        page.run(report, &Run { stage: "soak", arguments: &["soak::", "--nocapture"], environment: &environment, repeats_failures: false })
    });
}

/// Driver description of `SwiftShader`, the software GPU of Chromium, for programs that search for Vulkan drivers.
fn swiftshader() -> Result<PathBuf> {
    let file = PathBuf::from("/usr/lib/chromium/vk_swiftshader_icd.json");
    ensure!(file.exists(), "{} is missing; Debian's package chromium has it", file.display());
    Ok(file)
}

fn page_in(report: &mut Report, browser: Browser, only: Option<&str>, repeat: usize) {
    let Some((programs, dist)) = build_page(report) else { return };
    let Some(page) = named(&programs, "page") else { return };
    let only: Vec<&str> = only.into_iter().collect();
    for _ in 0..repeat {
        let selection = Selection { only: &only, ..Selection::default() };
        report.stage(&browser.to_string(), |report| in_browser(report, page, browser, &dist, &selection));
    }
}

fn python_alone(report: &mut Report) {
    report.stage("python", |report| {
        // Same targets as the whole command, so that neither causes a rebuild for the other.
        programs::build_all(&setup::native(), &TARGETS)?;
        count(report, "python", &mut python::tests(&command_line())?)
    });
}

/// Path of the command-line program that its tests have built.
fn command_line() -> PathBuf {
    command::build().join("target/debug/glasscage")
}

/// Threads that keep every core busy until this is dropped.
struct Busy {
    is_over: Arc<AtomicBool>,
}

impl Busy {
    fn begin() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self { is_over }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_native_tests_exist() {
        let exists = |test: &&str| {
            let (module, name) = test.split_once("::").unwrap();
            let source = std::fs::read_to_string(command::root().join("tests/native").join(module).with_extension("rs")).unwrap();
            source.contains(&format!("fn {name}()"))
        };
        let missing: Vec<&str> = SLOW_NATIVE_TESTS.into_iter().chain(NATIVE_TESTS_OF_MANY_CASES).filter(|test| !exists(test)).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }
}
