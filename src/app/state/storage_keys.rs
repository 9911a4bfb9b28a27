//! Under which names the browser's storage remembers what; data of earlier visits, so they stay as they are.

// In this tab.
pub const PROMPT: &str = "glasscage.prompt";
pub const LOADING: &str = "glasscage.loading";
pub const GIVEN_ANSWER: &str = "glasscage.given-answer";
pub const ENTRY: &str = "glasscage.entry";
// In this tab, and for later visits.
pub const MODEL: &str = "glasscage.model";
// For later visits.
pub const DOWNLOAD: &str = "glasscage.download";
pub const LANGUAGE: &str = "glasscage.language";
pub const STANDARD: &str = "glasscage.standard";
pub const SPEED: &str = "glasscage.speed";
pub const TILE_SHAPE: &str = "glasscage.tile-shape";
