//! `glasscage gpu`: describes the GPU of this machine, and measures the most that it can do.

use clap::Args;
use glasscage_engine::gpu::description::describe;
use glasscage_engine::gpu::device::{Gpu, Options};
use glasscage_engine::lm::LmError;
use serde::Serialize;

use super::output;

#[derive(Args)]
pub struct Arguments {
    /// Then fill the GPU's memory with up to N GiB until it refuses more, and compute again
    #[arg(long, value_name = "N")]
    fill: Option<u64>,
}

pub fn gpu(arguments: &Arguments) -> Result<(), String> {
    pollster::block_on(measure(arguments))
}

/// Prints each result as a line of JSON as soon as it is known.
async fn measure(arguments: &Arguments) -> Result<(), String> {
    let failed = |error: LmError| error.to_string();
    print("adapter", &describe().await.map_err(failed)?)?;
    let gpu = Gpu::open(&Options::default()).await.map_err(failed)?;
    print("peak", &gpu.peak_throughput().await.map_err(failed)?)?;
    if let Some(gibibytes) = arguments.fill {
        print("filled", &gpu.exhaust_memory(gibibytes.saturating_mul(1 << 30)).await)?;
        print("peak after memory was full", &gpu.peak_throughput().await.map_err(failed)?)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Line<'a, T> {
    what: &'a str,
    #[serde(flatten)]
    result: &'a T,
}

fn print(what: &str, result: &impl Serialize) -> Result<(), String> {
    let line = serde_json::to_string(&Line { what, result }).map_err(|error| error.to_string())?;
    output::print(&(line + "\n"))
}
