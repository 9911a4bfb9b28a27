//! The worker that downloads models and stores them: [`protocol`] is what the page knows of it, `service` does the work.

pub mod protocol;
#[cfg(feature = "engine")]
pub mod service;
