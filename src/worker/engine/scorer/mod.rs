//! Workers that score passes for the engine, on other cores.

pub mod client;
mod protocol;
pub mod service;
