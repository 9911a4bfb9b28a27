//! Engine and library run in workers of their own. Page and worker talk in [`envelope::Envelope`]s of that worker's
//! protocol; both workers are one program, which learns from its name what to be.

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
