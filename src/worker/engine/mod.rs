//! The engine's worker: loads a model and answers requests about it.

pub mod protocol;
#[cfg(feature = "engine")]
pub mod scorer;
#[cfg(feature = "engine")]
pub mod service;
#[cfg(feature = "engine")]
mod sources;
