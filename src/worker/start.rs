//! Starts the service of a worker according to its name.

use super::engine::scorer::service as scorer;
use super::engine::service as engine;
use super::library::service as library;
use super::role::Role;
use super::scope;

/// Runs the service for which this worker was started.
pub fn run() {
    console_error_panic_hook::set_once();
    match scope::name() {
        name if name == Role::Library.name() => library::run(),
        name if name == Role::Scorer.name() => scorer::run(),
        _ => engine::run(),
    }
}
