//! What page, workers, sessions and command line tell each other. Nothing here computes.

pub mod problem;
pub mod request;
pub mod version;
