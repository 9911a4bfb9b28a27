//! The engine's worker: a model, and what is asked of it.

pub mod protocol;
#[cfg(feature = "engine")]
pub mod scorer;
#[cfg(feature = "engine")]
pub mod service;
#[cfg(feature = "engine")]
mod sources;
