//! A second worker that scores passes for the engine, on another core.

pub mod client;
mod protocol;
pub mod service;
