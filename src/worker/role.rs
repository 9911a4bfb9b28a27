//! Worker roles, handshake messages, and the reasons why a worker can be lost.

/// The task of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Engine,
    Library,
    /// Scores passes for the engine. The engine starts it.
    Scorer,
}

impl Role {
    /// Name of the worker.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Library => "library",
            Self::Scorer => "scorer",
        }
    }
}

/// A worker sends this once, when it listens. Earlier messages could be lost.
pub const LISTENING: &str = "listening";
/// A worker sends this while its program arrives (`www/engine_loader.js`).
pub const LOADING: &str = "loading";
/// Response of a worker to a message that it cannot read.
pub const INCOMPATIBLE: &str = "incompatible";

/// Why a worker was lost, with all of its state. The next request starts a new worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The browser could not start the worker.
    NotStarted,
    /// The code of the worker did not arrive.
    NotArrived,
    /// The worker ended unexpectedly.
    Stopped,
    /// The worker and the page have different versions.
    Incompatible,
}
