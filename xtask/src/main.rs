//! The project's commands: `cargo xtask --help` lists them. Each command installs what it needs on a fresh machine.
//!
//! Tools and the wasm standard library are in `~/.cache/glasscage` (`GLASSCAGE_CACHE` sets another folder). Builds are in `target/xtask`.
//! The commands overwrite nothing global, and an empty cache works.

mod bench;
mod browsers;
mod build;
mod command;
mod compact;
mod docs;
mod finish;
mod fuzz;
mod gpu_budgets;
mod gpu_run;
mod hash;
mod import_names;
mod inventory;
mod lock;
mod minimum_rust;
mod npm;
mod outcome;
mod prebuilt;
mod precache;
mod python;
mod random_model;
mod real_model;
mod screenshots;
mod serve;
mod setup;
mod sheets;
mod sizes;
mod split;
mod test;
mod test_environment;
mod viewer;

use std::process::ExitCode;

use clap::Parser;

/// Builds, serves, tests and measures Glasscage. Each command installs what it needs.
#[derive(Parser)]
#[command(
    bin_name = "cargo xtask",
    after_help = "Tools are kept in ~/.cache/glasscage, GLASSCAGE_CACHE names another folder; builds are in target/xtask."
)]
enum Xtask {
    /// Build the page and serve it on localhost, or write the folder to deploy
    Serve(serve::Options),
    /// Check formatting, lints and the rules of the code: two minutes once built
    Check,
    /// Install what the tests need, and run every test that a change must pass
    Test(test::Options),
    /// Measure speed, memory and sizes, and compare with wllama and onnxruntime-web
    Bench(bench::Options),
    /// Compile the kernels for GPUs that this machine does not have, and compare the results with their limits
    GpuBudgets(gpu_budgets::Options),
    /// Pack everything that a GPU machine without a compiler and without a network needs to test and measure the engine
    GpuRun(gpu_run::Options),
    /// Fuzz everything that reads untrusted input
    Fuzz(fuzz::Options),
    /// Take pictures of every state of the page in three browsers, and show them on one page
    Screenshots(screenshots::Options),
    /// Build the documentation site into dist/docs, next to the page, and check its links
    Docs,
    /// Build the page and the viewer's npm package
    Npm,
    /// Build the page and the Python package with the viewer
    Wheel,
    /// Finish a build of the page; Trunk runs this
    #[command(hide = true)]
    Finish,
}

fn main() -> ExitCode {
    let done = match Xtask::parse() {
        Xtask::Serve(options) => serve::run(&options),
        Xtask::Check => test::check(),
        Xtask::Test(options) => test::test(&options),
        Xtask::Bench(options) => bench::bench(options),
        Xtask::GpuBudgets(options) => gpu_budgets::gpu_budgets(&options),
        Xtask::GpuRun(options) => gpu_run::gpu_run(&options),
        Xtask::Fuzz(options) => fuzz::fuzz(&options),
        Xtask::Screenshots(options) => screenshots::run_all(&options),
        Xtask::Docs => docs::run(),
        Xtask::Npm => npm::npm(),
        Xtask::Wheel => python::wheel(),
        Xtask::Finish => finish::finish(),
    };
    if let Err(error) = &done {
        eprintln!("error: {error:#}");
    }
    ExitCode::from(u8::from(done.is_err()))
}
