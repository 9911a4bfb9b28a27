//! The page and its engine run in different threads and talk in the messages of [`protocol`].

#[cfg(feature = "page")]
pub mod client;
pub mod envelope;
#[cfg(feature = "engine")]
pub mod host;
pub mod library;
pub mod protocol;
#[cfg(feature = "engine")]
mod sources;
