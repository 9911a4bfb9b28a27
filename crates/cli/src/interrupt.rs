//! Ctrl-C. A command that watches it stops after the pass in progress and keeps what it measured. A second Ctrl-C ends the program at once.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a program that Ctrl-C ended, as shells report it.
const EXIT_CODE: i32 = 130;

static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Lets the first Ctrl-C only request an end. Has to be called once at most.
pub fn watch() -> Result<(), String> {
    let request = || {
        if IS_REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(EXIT_CODE);
        }
    };
    ctrlc::set_handler(request).map_err(|error| format!("cannot watch for Ctrl-C: {error}"))
}

/// Whether Ctrl-C was pressed since [`watch`].
pub fn is_requested() -> bool {
    IS_REQUESTED.load(Ordering::Relaxed)
}

/// `Break` after Ctrl-C.
pub fn unless_requested() -> ControlFlow<()> {
    if is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
