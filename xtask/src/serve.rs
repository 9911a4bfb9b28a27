//! `cargo xtask serve`: the page on localhost, or the folder to deploy.

use anyhow::Result;

use crate::command::{root, run};
use crate::{build, setup};

const PORT: &str = "8080";

/// Builds, serves, and builds again where sources change.
pub fn serve() -> Result<()> {
    let tools = setup::web()?;
    println!("Glasscage will be at http://localhost:{PORT}/ when the build is done; Ctrl-C ends it.");
    run(&mut build::trunk(&tools, &["serve", "--release", "--address", "127.0.0.1", "--port", PORT])?)
}

/// Writes `dist/`: any static host serves it, under any path.
pub fn release() -> Result<()> {
    let dist = root().join("dist");
    build::page(&setup::web()?, &dist)?;
    println!("The page is in {}.", dist.display());
    Ok(())
}
