//! Engine and library run in workers of their own. Page and worker talk in [`envelope::Envelope`]s of that worker's
//! protocol; all workers are one program, which learns from its name what to be. The engine
//! may start a third one, which scores passes for it on another core (`engine::scorer`).

#[cfg(feature = "page")]
pub mod client;
pub mod engine;
pub mod envelope;
pub mod library;
pub mod role;
#[cfg(feature = "engine")]
mod scope;
#[cfg(feature = "engine")]
pub mod start;
