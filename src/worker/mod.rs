//! Engine and library run in workers of their own. Page and worker talk in [`envelope::Envelope`]s of that worker's
//! protocol; both workers are one program, which learns from its name what to be.

#[cfg(feature = "page")]
pub mod client;
pub mod engine;
pub mod envelope;
pub mod library;
#[cfg(feature = "engine")]
mod scope;

/// What a worker says, once, when it listens. Messages posted earlier could get lost.
const LISTENING: &str = "listening";
/// What a worker says of a message that it cannot read.
const INCOMPATIBLE: &str = "incompatible";

/// What a worker is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Engine,
    Library,
}

/// Why a worker is gone, and all that was in it. The next request starts a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The browser could not start it.
    NotStarted,
    /// Its code did not arrive.
    NotArrived,
    /// It ended by itself.
    Stopped,
    /// It is of another version than the page.
    Incompatible,
}

impl Role {
    /// The worker's name.
    const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Library => "library",
        }
    }
}

/// Runs the service that the page started this worker for.
#[cfg(feature = "engine")]
pub fn run() {
    console_error_panic_hook::set_once();
    match scope::name() {
        name if name == Role::Library.name() => library::service::run(),
        _ => engine::service::run(),
    }
}
