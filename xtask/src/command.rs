//! Runs other programs, with readable errors.

use std::ffi::OsStr;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Variables that cargo sets for this process, and settings of the caller that would change the build.
const INHERITED: [&str; 11] = [
    "CARGO",
    "RUSTC",
    "RUSTDOC",
    "RUSTUP_TOOLCHAIN",
    "RUSTUP_TOOLCHAIN_SOURCE",
    "CARGO_MANIFEST_DIR",
    "LD_LIBRARY_PATH",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
];

/// Maximum number of attempts at a download.
const DOWNLOAD_ATTEMPTS: usize = 3;

/// The checkout's root folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the checkout")
}

/// Cache folder of tools, shared by all checkouts.
pub fn cache() -> Result<PathBuf> {
    let named = |variable| std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    let base = || named("XDG_CACHE_HOME").or_else(|| Some(std::env::home_dir()?.join(".cache"))).map(|base| base.join("glasscage"));
    let cache = named("GLASSCAGE_CACHE").or_else(base).context("no home folder: set GLASSCAGE_CACHE to where tools may live")?;
    Ok(path::absolute(cache)?)
}

/// Build folder of this checkout, next to the build of this program in cargo's `target/debug`.
pub fn build() -> PathBuf {
    root().join("target/xtask")
}

/// `program arguments` in the checkout, without the environment that cargo set for this process.
pub fn command(program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    for inherited in INHERITED {
        command.env_remove(inherited);
    }
    command
}

/// Sets a runtime folder, because Vulkan drivers warn if it is missing.
pub fn with_runtime_dir(command: &mut Command) {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
}

/// Runs a command to its end. Fails with the command line if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start {line}"))?;
    ensure!(status.success(), "failed ({status}): {line}");
    Ok(())
}

/// Runs a command that downloads, and repeats it if it fails. Registries and proxies sometimes drop a connection, and pip does not
/// repeat a download that ended early.
pub fn run_download(command: &mut Command) -> Result<()> {
    for attempt in 1..DOWNLOAD_ATTEMPTS {
        match run(command) {
            Ok(()) => return Ok(()),
            Err(error) => println!("attempt {attempt} of {DOWNLOAD_ATTEMPTS}: {error:#}"),
        }
    }
    run(command)
}

/// Whether the command runs and succeeds. Discards its output.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Standard output of the command.
pub fn output(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start {line}"))?;
    ensure!(output.status.success(), "failed ({}): {line}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Path of `program` on the PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| candidate.is_file())
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command that succeeds when it has run `n` times.
    fn succeeds_at(n: usize, file: &Path) -> Command {
        let script = format!("echo >> '{0}'; test $(wc -l < '{0}') -eq {n}", file.display());
        command("sh", &["-c", &script])
    }

    #[test]
    fn broken_download_is_repeated() {
        let file = std::env::temp_dir().join(format!("glasscage-attempts-{}", std::process::id()));
        run_download(&mut succeeds_at(DOWNLOAD_ATTEMPTS, &file)).unwrap();
        std::fs::remove_file(&file).unwrap();
        run_download(&mut succeeds_at(DOWNLOAD_ATTEMPTS + 1, &file)).unwrap_err();
        std::fs::remove_file(&file).unwrap();
    }
}
