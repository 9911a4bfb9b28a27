//! `cargo xtask serve`: serves the page on localhost, or builds the folder to deploy.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result, anyhow};
use clap::Args;

use crate::command::{build as build_folder, root, run as run_command};
use crate::{build, docs, setup};

#[derive(Args)]
pub struct Options {
    /// Write the deployable folder dist/ instead of serving
    #[arg(long, conflicts_with_all = ["port", "open"])]
    release: bool,
    /// Port on localhost
    #[arg(long, default_value_t = 8080, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Open the page in the browser after the build
    #[arg(long)]
    open: bool,
}

pub fn run(options: &Options) -> Result<()> {
    if options.release { release() } else { serve(options.port, options.open) }
}

/// Builds and serves the page, and rebuilds when sources change. This build is faster and larger than the release build.
fn serve(port: u16, open: bool) -> Result<()> {
    check_free(port)?;
    let tools = setup::web()?;
    let dist = build_folder().join("serve");
    let dist = dist.to_str().context("the path of the build folder is not UTF-8")?;
    println!("Glasscage will be at http://localhost:{port}/ when the build is done; Ctrl-C ends it.");
    let mut trunk = build::trunk(&tools, &["serve", "--dist", dist, "--address", "127.0.0.1", "--port", &port.to_string()])?;
    if open {
        trunk.arg("--open");
    }
    run_command(&mut trunk)
}

/// Checks the port before the build, which takes minutes.
fn check_free(port: u16) -> Result<()> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map(drop).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            anyhow!("port {port} is in use; choose another one, for example: cargo xtask serve --port {}", another(port))
        }
        ErrorKind::PermissionDenied => anyhow!("port {port} needs administrator rights; choose one above 1023"),
        _ => anyhow!(error).context(format!("cannot listen on port {port}")),
    })
}

/// The next free port, as a suggestion.
fn another(taken: u16) -> u16 {
    let is_free = |&port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    (taken.saturating_add(1)..=u16::MAX).find(is_free).unwrap_or(8080)
}

/// Writes `dist/`, which any static host can serve under any path.
fn release() -> Result<()> {
    let dist = root().join("dist");
    build::page(&setup::web()?, &dist)?;
    docs::build(&dist.join("docs"))?;
    println!("The page is in {}, its documentation in docs/ there.", dist.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_port_is_reported_with_free_one() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let message = check_free(port).unwrap_err().to_string();
        assert!(message.starts_with(&format!("port {port} is in use; choose another one")), "{message}");
        let suggested = message.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(suggested != port && check_free(suggested).is_ok(), "{message}");
    }
}
