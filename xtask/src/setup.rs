//! Installs what is missing on this machine: the wasm target, Trunk, wasm-bindgen, wasm-split, browsers.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::browsers::Browser;
use crate::command::{build, cache, command, find, output, root, run, succeeds};
use crate::lock::{Lock, lock};
use crate::prebuilt::Prebuilt;

const TRUNK: &str = "0.21.14";
const WASM_SPLIT: &str = "0.2.4";
const GECKODRIVER: &str = "0.37.1";
const MDBOOK: &str = "0.5.4";

/// Trunk, compiled by its authors. The hashes are those of github.com/taiki-e/install-action, manifests/trunk.json. wasm-bindgen has no
/// entry, because no hashes were available for our version. It compiles in a minute.
const PREBUILT_TRUNK: Prebuilt<'_> = Prebuilt {
    program: "trunk",
    version: "trunk 0.21.14",
    address: "https://github.com/trunk-rs/trunk/releases/download/v0.21.14/trunk-x86_64-unknown-linux-musl.tar.gz",
    sha256: "a67f4054b249fe9acc5fabc25de1aebf19783aca3ad6ff64bf34d7da44d0ea20",
};

/// Packaging tools need no optimized build: wasm-bindgen compiles in half the time and runs a second longer. Panics unwind, so that
/// dependencies shared with build scripts are compiled once.
const QUICK_BUILD: [(&str, &str); 6] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
    ("CARGO_PROFILE_RELEASE_STRIP", "true"),
    ("CARGO_PROFILE_RELEASE_PANIC", "unwind"),
];
pub const WASM: &str = "wasm32-unknown-unknown";

/// Debian's Rust with its sources, for machines where rustup cannot fetch the target.
const DEBIAN_RUST: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-22"];

/// Chromium without a window, in Debian's package chromium-headless-shell.
const HEADLESS_SHELL: &str = "/usr/lib/chromium/chromium-headless-shell";

/// Folders in which Vulkan drivers register.
const VULKAN_DRIVERS: [&str; 2] = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/// Folders that are searched for programs before the PATH.
#[derive(Default)]
pub struct Tools {
    folders: Vec<PathBuf>,
}

impl Tools {
    /// A command that finds these tools, with build caches outside the checkout.
    pub fn command(&self, program: &str, arguments: &[&str]) -> Result<Command> {
        let path = self.path()?;
        let mut command = command(self.program(program), arguments);
        command.env("PATH", path).env("CARGO_TARGET_DIR", build().join("target"));
        Ok(command)
    }
}

impl Tools {
    /// The file of a program, if it is among these tools. `Command` searches the PATH of this process, not the PATH that it sets.
    pub fn program(&self, program: &str) -> PathBuf {
        self.folders.iter().map(|folder| folder.join(program)).find(|file| file.is_file()).unwrap_or(program.into())
    }

    /// The PATH, with these tools first.
    pub fn path(&self) -> Result<String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(self.folders.iter().cloned().chain(std::env::split_paths(&path)))?;
        path.into_string().map_err(|path| anyhow!("the PATH is not UTF-8: {}", path.display()))
    }
}

/// Tools for the native build: those of the machine.
pub fn native() -> Tools {
    Tools::default()
}

/// Tools for building the page: Rust with the wasm target, Trunk, wasm-split, and the wasm-bindgen version of `Cargo.lock`.
pub fn web() -> Result<Tools> {
    let _lock = installation()?;
    let rust = wasm_toolchain()?;
    let trunk = tool("trunk", TRUNK, prebuilt_trunk())?;
    let wasm_bindgen = tool("wasm-bindgen-cli", &locked_version("wasm-bindgen")?, None)?;
    let wasm_split = tool("wasm_split_cli_support", WASM_SPLIT, None)?;
    fs::remove_dir_all(tools_target()?).ok();
    Ok(Tools { folders: rust.into_iter().chain([trunk, wasm_bindgen, wasm_split]).collect() })
}

/// Tools for the documentation site: mdBook.
pub fn docs() -> Result<Tools> {
    let _lock = installation()?;
    let mdbook = tool("mdbook", MDBOOK, None)?;
    fs::remove_dir_all(tools_target()?).ok();
    Ok(Tools { folders: vec![mdbook] })
}

/// A browser and its driver for tests.
pub fn browser(browser: Browser) -> Result<Tools> {
    let _lock = installation()?;
    let geckodriver = match browser {
        Browser::Chromium => {
            chromium()?;
            None
        }
        Browser::Firefox => {
            install_where_missing("Firefox", &["firefox-esr"], || find("firefox-esr").or_else(|| find("firefox")).is_some())?;
            Some(tool("geckodriver", GECKODRIVER, None)?)
        }
        Browser::WebKit => {
            let is_present = || find("WebKitWebDriver").is_some() && find("Xvfb").is_some();
            install_where_missing("WebKitGTK", &["webkit2gtk-driver", "xvfb"], is_present)?;
            None
        }
    };
    Ok(Tools { folders: geckodriver.into_iter().collect() })
}

/// One installation at a time, because checkouts share the tools and apt allows only one.
fn installation() -> Result<Lock> {
    lock(&cache()?.join("lock"), "an installation")
}

fn install_where_missing(what: &str, packages: &[&str], is_present: impl Fn() -> bool) -> Result<()> {
    let needed = || format!("tests in {what} need what Debian calls {}", packages.join(", "));
    if !is_present() {
        apt_install(packages).with_context(needed)?;
    }
    ensure!(is_present(), "{}; install it", needed());
    Ok(())
}

/// Also installs software drivers for Vulkan, which native tests need.
fn chromium() -> Result<()> {
    let has_browser = || ["chromium", "chromium-browser", "google-chrome"].iter().any(|name| find(name).is_some());
    let has_vulkan = || VULKAN_DRIVERS.iter().any(|folder| Path::new(folder).read_dir().is_ok_and(|mut drivers| drivers.next().is_some()));
    let is_present = || find("chromedriver").is_some() && has_browser() && has_vulkan();
    let needed = "the tests need Chromium (or Chrome), chromedriver and a Vulkan driver such as Mesa's lavapipe";
    if !is_present() {
        apt_install(&["chromium", "chromium-driver", "mesa-vulkan-drivers", "libvulkan1"]).context(needed)?;
    }
    ensure!(is_present(), "{needed}; install them");
    Ok(())
}

/// Chromium without a window, which starts three times as fast. `None` if the machine has none and apt cannot install it: the tests of
/// the page then run in Chromium itself.
pub fn headless_shell() -> Option<&'static Path> {
    let program = Path::new(HEADLESS_SHELL);
    if !program.exists() && find("apt-get").is_some() {
        let _lock = installation().ok()?;
        apt_install(&["chromium-headless-shell"]).inspect_err(|error| println!("{error:#}")).ok()?;
    }
    program.exists().then_some(program)
}

/// Python with venv and pip, for the Python package.
pub fn python() -> Result<()> {
    let is_present = || succeeds(&mut command("python3", &["-c", "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))"]));
    let needed = "the tests of the Python package need Python 3.10 or newer with venv and pip";
    if !is_present() {
        apt_install(&["python3", "python3-venv"]).context(needed)?;
    }
    ensure!(is_present(), "{needed}; install them");
    Ok(())
}

/// Folder of a Rust toolchain with the wasm standard library. `None` if the default toolchain has it.
fn wasm_toolchain() -> Result<Option<PathBuf>> {
    let sysroot = output(&mut command("rustc", &["--print", "sysroot"]))?;
    let has_wasm = || Path::new(sysroot.trim()).join("lib/rustlib").join(WASM).join("lib").is_dir();
    if has_wasm() || (succeeds(&mut command("rustup", &["target", "add", WASM])) && has_wasm()) {
        return Ok(None);
    }
    debian_toolchain().map(Some).context(
        "no wasm standard library: rustup could not add the target wasm32-unknown-unknown, and the way by Debian's packages failed",
    )
}

/// Builds a sysroot from Debian's Rust: compiles std for wasm once, and links the rest.
fn debian_toolchain() -> Result<PathBuf> {
    let sysroot = cache()?.join("rust");
    let complete = sysroot.join("complete");
    let stamp = || output(&mut command("/usr/bin/rustc", &["--version", "--verbose"]));
    if stamp().is_ok_and(|stamp| fs::read_to_string(&complete).is_ok_and(|built| built == stamp)) {
        return Ok(sysroot.join("bin"));
    }
    println!("rustup cannot add the wasm target here; building it from Debian's Rust");
    apt_install(&DEBIAN_RUST)?;
    if sysroot.exists() {
        fs::remove_dir_all(&sysroot)?;
    }
    let rustlib = sysroot.join("lib/rustlib");
    fs::create_dir_all(&rustlib)?;
    link_host_libraries(&rustlib)?;
    build_wasm_std(&rustlib.join(WASM).join("lib"))?;
    write_wrappers(&sysroot)?;
    fs::write(complete, stamp()?)?;
    Ok(sysroot.join("bin"))
}

fn link_host_libraries(rustlib: &Path) -> Result<()> {
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let debian = Path::new("/usr/lib/rustlib");
    symlink(debian.join("src"), rustlib.join("src"))?;
    symlink(debian.join("etc"), rustlib.join("etc"))?;
    fs::create_dir_all(rustlib.join(&host).join("bin"))?;
    symlink(debian.join(&host).join("lib"), rustlib.join(&host).join("lib"))?;
    symlink("/usr/bin/wasm-ld-22", rustlib.join(&host).join("bin/rust-lld"))?;
    Ok(())
}

/// Builds the standard library in an empty crate. Fat LTO needs the embedded bitcode.
fn build_wasm_std(into: &Path) -> Result<()> {
    let empty = cache()?.join("build-std");
    fs::create_dir_all(empty.join("src"))?;
    fs::write(empty.join("Cargo.toml"), "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n")?;
    fs::write(empty.join("src/lib.rs"), "")?;
    run(command("/usr/bin/cargo", &["build", "--release", "--target", WASM, "-Z", "build-std=std,panic_abort,test"])
        .current_dir(&empty)
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-C embed-bitcode=yes")
        .env("CARGO_TARGET_DIR", empty.join("target")))?;
    fs::create_dir_all(into)?;
    for file in fs::read_dir(empty.join("target").join(WASM).join("release/deps"))? {
        let file = file?.path();
        if file.extension().is_some_and(|extension| extension == "rlib") && !file.ends_with("libempty.rlib") {
            fs::copy(&file, into.join(file.file_name().context("a file has a name")?))?;
        }
    }
    Ok(())
}

/// `rustc` and `rustdoc` wrappers set the new sysroot. `cargo` finds them in its folder on the PATH.
fn write_wrappers(sysroot: &Path) -> Result<()> {
    let bin = sysroot.join("bin");
    fs::create_dir_all(&bin)?;
    for program in ["rustc", "rustdoc"] {
        let wrapper = bin.join(program);
        fs::write(&wrapper, format!("#!/bin/sh\nexec /usr/bin/{program} --sysroot '{}' \"$@\"\n", sysroot.display()))?;
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    }
    symlink("/usr/bin/cargo", bin.join("cargo"))?;
    Ok(())
}

/// Folder of the programs of `package` in exactly this version, installed once per version: downloaded if available, else compiled here.
fn tool(package: &str, version: &str, prebuilt: Option<&Prebuilt<'_>>) -> Result<PathBuf> {
    let home = cache()?.join("tools").join(format!("{package}-{version}"));
    if !home.join("bin").is_dir() {
        let downloaded = prebuilt.map(|prebuilt| prebuilt.install(&home));
        if let Some(Err(error)) = &downloaded {
            println!("{package} is compiled here, because it could not be downloaded: {error:#}");
        }
        if !matches!(downloaded, Some(Ok(()))) {
            install_beside(&home, "bin", |partial| cargo_install(package, version, partial))?;
        }
    }
    Ok(home.join("bin"))
}

/// Installs into a temporary folder, which must get the subfolder `contents`, and renames it to `home` when the installation is complete.
/// So an interrupted installation does not count as installed.
pub fn install_beside(home: &Path, contents: &str, install: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let partial = PathBuf::from(format!("{}.partial", home.display()));
    if partial.exists() {
        fs::remove_dir_all(&partial).with_context(|| partial.display().to_string())?;
    }
    install(&partial)?;
    ensure!(partial.join(contents).is_dir(), "the installation left no {contents} in {}", partial.display());
    // What an earlier version of this command left half-done would be in the way.
    if home.exists() {
        fs::remove_dir_all(home).with_context(|| home.display().to_string())?;
    }
    fs::rename(&partial, home).with_context(|| format!("cannot move {} to {}", partial.display(), home.display()))
}

/// Compiled Trunk for this machine, if its authors provide it.
fn prebuilt_trunk() -> Option<&'static Prebuilt<'static>> {
    cfg!(all(target_arch = "x86_64", target_os = "linux")).then_some(&PREBUILT_TRUNK)
}

/// Without default features, Trunk and wasm-bindgen have no TLS. Only their own downloads need TLS, and we do not use those.
fn cargo_install(package: &str, version: &str, home: &Path) -> Result<()> {
    let home = home.to_str().context("the cache path is not UTF-8")?;
    let arguments = ["install", package, "--version", version, "--root", home, "--no-default-features"];
    let features: &[&str] = match package {
        // This package is primarily a library, so request its program.
        "wasm_split_cli_support" => &["--features", "build-binary"],
        "mdbook" => &["--features", "search"],
        _ => &[],
    };
    let install = |lock: &[&str]| {
        let mut cargo = command("cargo", &[&arguments, features, lock].concat());
        run(cargo.envs(QUICK_BUILD).env("CARGO_TARGET_DIR", tools_target()?).env("CARGO_NET_RETRY", "5"))
    };
    // A registry mirror may lack a release from the tool's lock file.
    install(&["--locked"]).or_else(|_| install(&[]))
}

/// One build folder for all tools, because they share dependencies. It is removed afterward.
fn tools_target() -> Result<PathBuf> {
    Ok(cache()?.join("tools-target"))
}

/// The version of `package` in `Cargo.lock`.
fn locked_version(package: &str) -> Result<String> {
    let lock = fs::read_to_string(root().join("Cargo.lock"))?;
    let start = format!("name = \"{package}\"\nversion = \"");
    let (_, after) = lock.split_once(&start).with_context(|| format!("{package} is not in Cargo.lock"))?;
    Ok(after.split('"').next().unwrap_or_default().to_owned())
}

/// Whether the Debian package is installed and fully configured.
fn is_installed(package: &str) -> bool {
    let status = command("dpkg-query", &["--show", "--showformat", "${db:Status-Status}", package]).stderr(Stdio::null()).output();
    status.is_ok_and(|status| status.stdout == b"installed")
}

/// Installs packages with apt, if that is possible without a password.
fn apt_install(packages: &[&str]) -> Result<()> {
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if find("apt-get").is_none() {
        bail!("there is no apt on this machine; by hand, install what Debian calls {}", missing.join(", "));
    }
    let is_root = output(&mut command("id", &["-u"]))?.trim() == "0";
    let apt = |arguments: &[&str]| {
        let words =
            [if is_root { &[] } else { &["sudo", "-n"][..] }, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], arguments].concat();
        run(&mut command(words[0], &words[1..]))
    };
    // Another apt process may hold the lock, and a download may fail once.
    let patient = ["-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"];
    apt(&[&patient[..], &["update", "-qq"]].concat())?;
    apt(&[&patient[..], &["install", "-y", "-qq", "--no-install-recommends"], &missing[..]].concat())
        .with_context(|| format!("apt could not install {}; try: sudo apt-get install {}", missing.join(", "), missing.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prebuilt_trunk_has_same_version() {
        assert!(PREBUILT_TRUNK.version.ends_with(TRUNK) && PREBUILT_TRUNK.address.contains(&format!("/v{TRUNK}/")));
    }

    #[test]
    fn installation_ended_half_way_does_not_count() {
        let home = std::env::temp_dir().join(format!("glasscage-tool-{}", std::process::id()));
        let half = install_beside(&home, "bin", |partial| {
            fs::create_dir_all(partial.join("bin"))?;
            bail!("the registry failed")
        });
        assert!(half.is_err() && !home.exists());
        install_beside(&home, "bin", |partial| {
            assert!(!partial.exists(), "the first attempt leaves no files");
            Ok(fs::create_dir_all(partial.join("bin"))?)
        })
        .unwrap();
        assert!(home.join("bin").is_dir());
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn trunk_expects_locked_wasm_bindgen() {
        let settings = fs::read_to_string(root().join("Trunk.toml")).unwrap();
        assert!(settings.contains(&format!("wasm_bindgen = \"{}\"", locked_version("wasm-bindgen").unwrap())));
    }
}
