//! The worker that downloads and stores models. [`protocol`] is its interface to the page, `service` does the work.

pub mod protocol;
#[cfg(feature = "engine")]
pub mod service;
