//! Models that one can choose and keep: decisions only, no browser.
//!
//! A download is a loop of three: look at what is here ([`journal`]), ask for the rest, do what the server's answer means
//! ([`answer`]), wait where it says so ([`patience`]). The worker's `library` carries that out; the page shows it.

pub mod address;
pub mod answer;
pub mod fit;
pub mod journal;
pub mod messages;
pub mod pace;
pub mod patience;
pub mod registry;

pub use messages::{Device, Errand, Facts, Fetching, Kept, Offer, Part, Place, Report, Shelf, Stage, Wanted};
