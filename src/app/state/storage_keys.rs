//! Keys of the browser's storage. Do not change them, because earlier visits have stored data under them.

// Stored in this tab.
pub const PROMPT: &str = "glasscage.prompt";
pub const LOADING: &str = "glasscage.loading";
pub const GIVEN_ANSWER: &str = "glasscage.given-answer";
pub const REPLACED_TEXTS: &str = "glasscage.replaced-texts";
pub const ENTRY: &str = "glasscage.entry";
// Stored in this tab and for later visits.
pub const MODEL: &str = "glasscage.model";
// Stored for later visits.
pub const DOWNLOAD: &str = "glasscage.download";
pub const LANGUAGE: &str = "glasscage.language";
/// Set while all numbers are shown.
pub const ALL_NUMBERS: &str = "glasscage-all-numbers";
pub const STANDARD: &str = "glasscage.standard";
pub const SPEED: &str = "glasscage.speed";
pub const KERNEL_SHAPES: &str = "glasscage.kernel-shapes";
