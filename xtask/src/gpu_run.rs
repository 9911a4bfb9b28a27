//! `cargo xtask gpu-run --pack DIR`: builds everything that a machine with a real GPU needs to test and measure the engine. That machine
//! may have no compiler, no network, and little time. `DIR/run` does the rest there.
//!
//! Test programs contain the path of their checkout. So the pack is built in a folder that every user can create, and unpacked to the same
//! path.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::command::{build, command, output, root, run};
use crate::setup::{self, Tools};
use crate::test::programs;

/// The folder in which the pack is built and unpacked. `gpu_run.sh` has the same path.
const CHECKOUT: &str = "/tmp/glasscage-gpu";
const SCRIPT: &str = include_str!("gpu_run.sh");
/// Maximum size of the pack in bytes. The machine also gets a copy of the checkout.
const MAX_BYTES: u64 = 38 << 20;
/// Test programs, and their names in the pack.
const TESTS: [(&str, &str); 2] = [("engine lib", "test-engine"), ("native", "test-native")];
/// Files that test programs read at run time.
const DATA: [&str; 5] =
    ["tests/fixtures/models", "tests/golden/stories260k", "tests/golden/tokenizers", "public/models/demo.gguf", "public/gallery"];
/// The folder of the engine's crate. Its tests find their data at `../..` from there, so the folder must exist.
const ENGINE: &str = "crates/engine";
/// Files that would only make the copy larger.
const LEFT_OUT: &str = "public/models/standard/";

#[derive(Args)]
pub struct Options {
    /// The folder for the pack: a script and an archive
    #[arg(long, value_name = "DIR")]
    pack: PathBuf,
}

pub fn gpu_run(options: &Options) -> Result<()> {
    // Create it first, because the builds take long.
    fs::create_dir_all(&options.pack).with_context(|| format!("cannot create {}", options.pack.display()))?;
    let native = setup::native();
    let checkout = Path::new(CHECKOUT);
    copy_checkout(checkout)?;
    let staging = build().join("gpu-pack");
    fs::remove_dir_all(&staging).ok();
    let bin = staging.join("bin");
    fs::create_dir_all(&bin)?;
    for (name, program) in build_programs(&native, checkout)? {
        run(command("strip", &["-o"]).arg(bin.join(name)).arg(program)).context("the pack needs strip, which Debian's binutils has")?;
    }
    vulkan_loader(&staging)?;
    for path in DATA {
        let target = staging.join(path);
        fs::create_dir_all(target.parent().context("data lies in a folder")?)?;
        run(command("cp", &["-r"]).arg(root().join(path)).arg(target))?;
    }
    fs::create_dir_all(staging.join(ENGINE))?;
    let archive = options.pack.join("pack.tar.xz");
    // Programs share most of their code. A window larger than one program lets xz find the shared code again.
    run(command("tar", &["-c", "-I", "xz -T2 -6 --lzma2=dict=128MiB", "-f"]).arg(&archive).arg("-C").arg(&staging).arg("."))?;
    let script = options.pack.join("run");
    fs::write(&script, SCRIPT)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    let bytes = fs::metadata(&archive)?.len();
    println!("{}: {:.1} MiB of {} MiB", archive.display(), bytes as f64 / f64::from(1 << 20), MAX_BYTES >> 20);
    ensure!(bytes <= MAX_BYTES, "the pack is too large");
    Ok(())
}

/// Copies the files that git tracks, as they are in the working tree.
fn copy_checkout(to: &Path) -> Result<()> {
    fs::remove_dir_all(to).ok();
    for file in output(&mut command("git", &["ls-files"]))?.lines().filter(|file| !file.starts_with(LEFT_OUT)) {
        let target = to.join(file);
        fs::create_dir_all(target.parent().context("a file lies in a folder")?)?;
        // A tracked file may be deleted in the working tree.
        if root().join(file).is_file() {
            fs::copy(root().join(file), target).with_context(|| format!("cannot copy {file}"))?;
        }
    }
    Ok(())
}

/// Builds the programs of the pack, by name: tests as in the test command, and measured programs in release mode.
fn build_programs(native: &Tools, checkout: &Path) -> Result<Vec<(String, PathBuf)>> {
    let packages = ["--package", "glasscage", "--package", "glasscage-engine"];
    // These programs contain the path of the copy. In the usual folder, cargo would take them for those of this checkout.
    let target = build().join("gpu-target");
    let tests = programs::build_in(native, checkout, &target, &[&packages[..], &["--lib", "--test", "native"]].concat())?;
    let release = ["build", "--locked", "--release", "--bin", "glasscage", "--example", "random_model"];
    run(native.command("cargo", &release)?.current_dir(checkout).env("CARGO_TARGET_DIR", &target))?;
    let built = target.join("release");
    let packed = |&(test, name): &(&str, &str)| {
        let program = tests.iter().find(|program| program.name == test).with_context(|| format!("{test} was not built"))?;
        Ok((name.to_owned(), program.file().to_owned()))
    };
    let tests: Vec<_> = TESTS.iter().map(packed).collect::<Result<_>>()?;
    let shipped = [("glasscage", built.join("glasscage")), ("random_model", built.join("examples/random_model"))];
    Ok(tests.into_iter().chain(shipped.map(|(name, file)| (name.to_owned(), file))).collect())
}

/// Adds Debian's Vulkan loader, because a machine for computing may have a driver without a loader.
fn vulkan_loader(staging: &Path) -> Result<()> {
    let downloads = staging.join("loader");
    fs::create_dir_all(&downloads)?;
    run(command("apt-get", &["download", "-q", "libvulkan1"]).current_dir(&downloads)).context("the pack needs Debian's libvulkan1")?;
    for package in fs::read_dir(&downloads)? {
        let package = package?.path();
        run(command("dpkg-deb", &["-x"]).arg(&package).arg(staging))?;
        fs::remove_file(package)?;
    }
    Ok(fs::remove_dir(&downloads)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_unpacks_to_where_the_pack_was_built() {
        assert!(SCRIPT.contains(&format!("CHECKOUT={CHECKOUT}\n")));
    }

    #[test]
    fn data_is_in_the_checkout() {
        let missing: Vec<&str> = DATA.into_iter().chain([ENGINE]).filter(|path| !root().join(path).exists()).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }
}
