//! `cargo xtask gpu-budgets`: compiles the kernels with compilers for real GPUs, on a machine without such GPUs, and counts the memory
//! reads of the kernels. Compares both with our limits. Also predicts the speed of real GPUs from them, by a cost model.
//!
//! Starts Mesa's drivers from Debian sid on `mesa-drm-shim`, which emulates the graphics kernel driver. wgpu passes the WGSL to them.
//! They compile as on a real card, but cannot run anything.

mod budgets;
mod measured;
pub mod prediction;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::command::{build, cache, command, output, root, run};
use crate::outcome::Outcome;
use crate::setup;
use crate::setup::Tools;
use budgets::{Row, rows};
use measured::{DRIVERS, Measured};
use prediction::{MIXES, Mixes};

/// Versions that produced the figures in `docs/research/gpu-budgets.md`. Other versions give other figures, which are not enforced.
const VERSIONS: &str = "mesa-vulkan-drivers 26.2.6-1, wgpu 0.32.0";
const PAGE: &str = "docs/research/gpu-budgets.md";
/// This command writes the part of the page after this mark.
const MARK: &str = "<!-- What follows is written by `cargo xtask gpu-budgets --write`. -->\n";

/// Weight types that are not compiled. Their kernels differ from others only in how they unpack a few integers.
const LEFT_OUT: [&str; 11] = ["F32", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q5_K", "IQ4_NL", "IQ4_XS"];

#[derive(Args)]
pub struct Options {
    /// Also write the table to docs/research/gpu-budgets.md, and what it changes in the predictions of docs/real-gpus.md
    #[arg(long)]
    write: bool,
    /// Compile nothing. Write what the cost model predicts for real GPUs, and what was measured, to docs/real-gpus.md
    #[arg(long, conflicts_with = "write")]
    predict: bool,
}

/// Measures and prints the table. Fails if a figure got worse.
pub fn gpu_budgets(options: &Options) -> Result<()> {
    if options.predict {
        return prediction::page::write(&Mixes::stored()?);
    }
    let (table, measured, verdict) = table(&setup::native(), &compilers()?)?;
    if options.write {
        let mixes = Mixes::of_measured(&measured)?;
        fs::write(root().join(MIXES), mixes.to_json())?;
        prediction::page::write(&mixes)?;
        let page = fs::read_to_string(root().join(PAGE))?;
        let (before, _) = page.split_once(MARK).with_context(|| format!("{PAGE} has no place for the table"))?;
        fs::write(root().join(PAGE), format!("{before}{MARK}\n{table}"))?;
    }
    verdict
}

/// The check in `cargo xtask test`. Skipped if the compilers are not available on this machine.
pub fn check(native: &Tools) -> Result<Outcome> {
    match compilers() {
        Err(error) => Ok(Outcome::Skipped(format!("{error:#}"))),
        Ok(folder) => table(native, &folder)?.2.map(|()| Outcome::Checked),
    }
}

/// Folder of the compilers in the cache. Sets it up if it is missing.
fn compilers() -> Result<PathBuf> {
    let folder = cache()?.join("gpu-compilers");
    if !folder.join("versions").is_file() {
        run(command("bash", &["xtask/gpu-compilers/setup.sh"]).arg(&folder)).context("the compilers of GPUs cannot be had here")?;
    }
    Ok(folder)
}

/// Measures and prints the table. Returns it, the measurements, and whether all enforced limits are met.
fn table(native: &Tools, compilers: &Path) -> Result<(String, Measured, Result<()>)> {
    let kernels = build().join("gpu-kernels");
    fs::remove_dir_all(&kernels).ok();
    fs::create_dir_all(&kernels)?;
    run(native.command("cargo", &["run", "--quiet", "--example", "gpu_budgets", "--"])?.arg(&kernels))?;
    let versions = fs::read_to_string(compilers.join("versions"))?.trim().replace('\n', ", ");
    let measured = measure(compilers, &kernels)?;
    let rows = rows(&measured);
    let shapes = measured.spilling_shapes();
    let spilling = if shapes.is_empty() {
        String::new()
    } else {
        format!("\nShapes that spill, where another shape of the same kernel does not: {}.\n", shapes.join(", "))
    };
    let table = format!("{}{spilling}", budgets::table(&rows, &versions));
    println!("{table}");
    let verdict = verdict(&rows, versions == VERSIONS);
    Ok((table, measured, verdict))
}

/// Compiles every kernel with every driver. The slowest driver takes 2 s per kernel.
fn measure(compilers: &Path, kernels: &Path) -> Result<Measured> {
    let mut files: Vec<PathBuf> = fs::read_dir(kernels)?.map(|file| Ok(file?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "wgsl") && !is_left_out(file));
    files.sort();
    ensure!(!files.is_empty(), "there are no kernels");
    let compiled = thread::scope(|scope| {
        let threads = DRIVERS.map(|driver| scope.spawn(|| compile(compilers, driver, &files)));
        threads.map(|thread| thread.join().expect("no thread panics"))
    });
    let traffic: Vec<Value> = serde_json::from_str(&fs::read_to_string(kernels.join("traffic.json"))?)?;
    Measured::new(compiled.into_iter().collect::<Result<_>>()?, traffic)
}

fn is_left_out(file: &Path) -> bool {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    name.split('.').any(|word| LEFT_OUT.contains(&word))
}

fn compile(compilers: &Path, driver: &str, files: &[PathBuf]) -> Result<Vec<Value>> {
    let mut python = command("python3", &["xtask/gpu-compilers/compile.py", driver]);
    Ok(serde_json::from_str(&output(python.arg(compilers).args(files))?)?)
}

/// Fails if a budget is missed. Other compilers than those of the budgets may miss the budgets of compiled kernels.
fn verdict(rows: &[Row], by_known_compilers: bool) -> Result<()> {
    let missed: Vec<String> = rows.iter().filter(|row| !row.is_met() && (by_known_compilers || !row.is_compiled)).map(Row::miss).collect();
    ensure!(missed.is_empty(), "budgets are missed: {}", missed.join("; "));
    Ok(())
}
