//! What page and worker have agreed on before the first request.

/// What a worker is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Engine,
    Library,
    /// Scores passes for the engine, which starts it.
    Scorer,
}

impl Role {
    /// The worker's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Library => "library",
            Self::Scorer => "scorer",
        }
    }
}

/// What a worker says, once, when it listens. Messages posted earlier could get lost.
pub const LISTENING: &str = "listening";
/// What a worker says while its program arrives (`www/engine_loader.js`).
pub const LOADING: &str = "loading";
/// What a worker says of a message that it cannot read.
pub const INCOMPATIBLE: &str = "incompatible";

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
