//! The project's commands: `cargo xtask serve | test | bench`. Each sets up what it needs on a fresh machine.
//!
//! Tools, the wasm standard library and build caches live under `~/.cache/glasscage` (`GLASSCAGE_CACHE` moves
//! them); nothing global is overwritten, and an empty cache works.

mod bench;
mod build;
mod command;
mod precache;
mod random_model;
mod serve;
mod setup;
mod test;

use anyhow::{Result, bail};

const USAGE: &str = "usage:
  cargo xtask serve             build the page and serve it on localhost
  cargo xtask serve --release   write the deployable folder dist/
  cargo xtask test              set up everything and pass every test
  cargo xtask test --large      the page with a model of 640 MB: nightly, some minutes
  cargo xtask bench [--model FILE] [--json FILE] [--job TOKENS,SENTENCES,GENERATED]
                                measure speed, memory and sizes here, and those of wllama and onnxruntime-web";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => serve::serve(),
        ["serve", "--release"] => serve::release(),
        ["test"] => test::test(),
        ["test", "--large"] => test::large(),
        ["precache"] => precache::precache(),
        ["bench", ref options @ ..] => bench::bench(options),
        _ => bail!("{USAGE}"),
    }
}
