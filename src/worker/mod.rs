//! Workers of engine and library. Page and worker exchange [`envelope::Envelope`]s with messages of the worker's protocol. All workers
//! run the same program, and the name of a worker determines its role. The engine may start a third worker that scores passes on another
//! core (`engine::scorer`).

#[cfg(feature = "page")]
pub mod client;
#[cfg(feature = "engine")]
mod device;
pub mod engine;
pub mod envelope;
#[cfg(feature = "engine")]
mod http;
#[cfg(feature = "engine")]
mod js;
pub mod library;
pub mod role;
#[cfg(feature = "engine")]
mod scope;
#[cfg(feature = "engine")]
pub mod start;
#[cfg(feature = "engine")]
mod storage;
