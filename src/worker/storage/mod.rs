//! Stored models, in the browser's private file system. The library's worker writes them, and the engine's worker opens them.

pub mod lock;
pub mod opfs;
pub mod sink;
pub mod stored_models;
