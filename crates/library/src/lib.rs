//! Decides how to download and store models. Does not call the browser.
//!
//! A download is a loop: check what is stored ([`journal`]), request the rest, handle the response ([`http_response`]), and wait before
//! another attempt ([`retry`]). `worker::library::service` carries it out; the page shows it.

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
