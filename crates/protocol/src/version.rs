//! The version of this build.

/// Version that page and worker compare, and that documents name. `cargo xtask` adds the commit to it.
pub const GLASSCAGE: &str = match option_env!("GLASSCAGE_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};
