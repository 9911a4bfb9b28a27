//! Hostile input for everything that reads what strangers send. `cargo xtask fuzz` builds and runs it; the environment variable
//! `GLASSCAGE_FUZZ_TARGET` says which target; without one, it names them. Each takes bytes, and must neither panic, nor hang, nor take
//! memory beyond what the length of the input allows; what it accepts must hold the promises of the documentation.

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
        // What a target makes once is made here, where no limit of time for one input holds.
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
