//! A worker learns what to be.

use super::engine::scorer::service as scorer;
use super::engine::service as engine;
use super::library::service as library;
use super::role::Role;
use super::scope;

/// Runs the service that the page started this worker for.
pub fn run() {
    console_error_panic_hook::set_once();
    match scope::name() {
        name if name == Role::Library.name() => library::run(),
        name if name == Role::Scorer.name() => scorer::run(),
        _ => engine::run(),
    }
}
