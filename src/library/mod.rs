//! Models to download and keep: decisions only, no browser.
//!
//! A download is a loop: look at what is stored ([`journal`]), request the rest, do what the response asks for ([`http_response`]),
//! wait before another attempt ([`retry`]). `worker::library::service` carries that out; the page shows it.

pub mod address;
pub mod download_spec;
pub mod errors;
pub mod fit;
pub mod http_response;
pub mod journal;
pub mod preview;
pub mod progress;
pub mod registry;
pub mod retry;
pub mod standard;
pub mod stored_models;
pub mod transfer_rate;
