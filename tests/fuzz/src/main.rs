//! Fuzzes everything that reads untrusted input. `cargo xtask fuzz` builds and runs this program. The environment variable
//! `GLASSCAGE_FUZZ_TARGET` selects a target; without it, the program lists the targets. Each target reads bytes. It must not panic, hang,
//! or use more memory than the length of the input allows. Accepted input must have the documented properties.

#![no_main]

mod documents;
mod gguf;
mod hostile;
mod library;
mod models;
mod targets;
mod texts;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use targets::{TARGETS, Target};

static TARGET: LazyLock<Option<Target>> = LazyLock::new(|| {
    let name = std::env::var("GLASSCAGE_FUZZ_TARGET").ok()?;
    TARGETS.iter().find(|(target, _)| *target == name).map(|(_, target)| *target)
});

fuzz_target!(
    init: match *TARGET {
        // Targets initialize here, because the time limit per input does not apply here.
        Some(target) => target(&[]),
        None => {
            TARGETS.iter().for_each(|(name, _)| println!("{name}"));
            std::process::exit(0);
        }
    },
    |bytes: &[u8]| {
        if let Some(target) = *TARGET {
            target(bytes);
        }
    }
);
