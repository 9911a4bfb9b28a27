//! Finishes a Trunk build: splits the page's program, joins style sheets, packs the viewer into a file that works from disk, moves Trunk's
//! inline script into a file, and writes the list of files for the service worker. Trunk runs this automatically (`Trunk.toml`), so every
//! build is finished.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::command::root;
use crate::{compact, import_names, inventory, precache, setup, sheets, split, viewer};

/// Loads the engine's program in its worker.
const ENGINE_LOADER: &str = "engine_loader.js";

/// Finishes the build in `TRUNK_STAGING_DIR`.
pub fn finish() -> Result<()> {
    let variable = |name: &str| std::env::var_os(name).with_context(|| format!("{name} is not set: Trunk calls this"));
    let dist = PathBuf::from(variable("TRUNK_STAGING_DIR")?);
    let is_release = variable("TRUNK_PROFILE")? == "release";
    let web = setup::web()?;
    split::split(&web, &dist, is_release)?;
    if is_release {
        split::strip(&dist)?;
        import_names::number(&dist)?;
    }
    sheets::join(&dist)?;
    // Replaces Trunk's loader, which reports no progress and starts over if the connection breaks.
    fs::copy(root().join("www").join(ENGINE_LOADER), dist.join(ENGINE_LOADER))?;
    if is_release {
        compact::compact(&dist)?;
    }
    viewer::finish(&dist)?;
    precache::precache(&dist)?;
    // After the list of cached files, because users do not need the inventory.
    if is_release { inventory::write(&web, &dist) } else { Ok(()) }
}
