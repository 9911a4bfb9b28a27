//! Other engines from npm.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::{cache, command, find, output, run};
use crate::setup::install_beside;

/// Folder of the unpacked npm package. Downloads it if it is missing.
pub fn package(name: &str, version: &str) -> Result<PathBuf> {
    let short = name.rsplit('/').next().unwrap_or(name);
    let folder = cache()?.join("npm").join(format!("{short}-{version}"));
    if folder.join("package/package.json").is_file() {
        return Ok(folder.join("package"));
    }
    find("npm").with_context(|| format!("there is no npm on this machine to fetch {name} with"))?;
    let install = |partial: &Path| {
        fs::create_dir_all(partial)?;
        let packed = output(command("npm", &["pack", "--silent", &format!("{name}@{version}"), "--pack-destination"]).arg(partial))?;
        run(command("tar", &["xzf", packed.trim()]).current_dir(partial))
    };
    install_beside(&folder, "package", install)?;
    Ok(folder.join("package"))
}
