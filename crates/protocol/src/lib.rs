//! Requests and results that page, workers, sessions and command line exchange. Nothing here computes.

pub mod device;
pub mod problem;
pub mod request;
pub mod version;
