//! After Trunk: the page's program is split, the viewer's put into a file that works from disk, what Trunk wrote into the page goes into
//! files of its own, and the service worker learns which files make up this version. Trunk runs this by itself (`Trunk.toml`), so every
//! build has it.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{inventory, precache, setup, split, viewer};

/// Finishes the build in `TRUNK_STAGING_DIR`.
pub fn finish() -> Result<()> {
    let variable = |name: &str| std::env::var_os(name).with_context(|| format!("{name} is not set: Trunk calls this"));
    let dist = PathBuf::from(variable("TRUNK_STAGING_DIR")?);
    let is_release = variable("TRUNK_PROFILE")? == "release";
    let web = setup::web()?;
    split::split(&web, &dist, is_release)?;
    viewer::finish(&dist, is_release)?;
    precache::precache(&dist)?;
    // After the list of files to keep: no visitor needs it.
    if is_release { inventory::write(&web, &dist) } else { Ok(()) }
}
