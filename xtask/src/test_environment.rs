//! Environment variables for tests, independent of the machine's settings.

use std::process::Command;

use anyhow::Result;

use crate::command::{root, with_runtime_dir};
use crate::real_model::RealModel;
use crate::setup::Tools;

/// `cargo test` for tests that may use Vulkan.
pub fn natively(native: &Tools, arguments: &[&str]) -> Result<Command> {
    let mut tests = native.command("cargo", &[&["test"], arguments].concat())?;
    with_test_environment(&mut tests);
    Ok(tests)
}

/// Makes tests independent of the machine's language, fonts and network settings, and names the real models for them. Panics print no
/// backtrace by default.
pub fn with_test_environment(command: &mut Command) {
    with_runtime_dir(command);
    // The tests themselves use all cores. Candle would query the number of cores for every product.
    command.env("RAYON_NUM_THREADS", "1");
    command.env("LANG", "C.UTF-8").env("LANGUAGE", "en").env_remove("LC_ALL").env("NO_PROXY", "*").env("PROPTEST_RNG_SEED", "1");
    command.env("FONTCONFIG_FILE", root().join("xtask/src/test/fonts.conf"));
    for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(proxy);
    }
    for model in RealModel::ALL {
        if let Some(file) = model.cached() {
            command.env(model.variable, file);
        }
    }
    if std::env::var_os("GLASSCAGE_BACKTRACES").is_none() {
        command.env("RUST_BACKTRACE", "0");
    }
}
