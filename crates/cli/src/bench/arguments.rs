//! Arguments of `glasscage bench`.

use std::path::PathBuf;

use clap::Args;

use crate::models::BackendArgument;

#[derive(Args)]
pub struct Arguments {
    /// A GGUF file
    #[arg(long)]
    pub(super) model: PathBuf,
    /// Engine that computes
    #[arg(long, value_enum, default_value = "cpu")]
    pub(super) backend: BackendArgument,
    /// Tokens of prompt and answer together
    #[arg(long, default_value_t = 300)]
    pub(super) tokens: usize,
    /// Sentences of prompt and answer together, all of the same length
    #[arg(long, default_value_t = 15)]
    pub(super) sentences: usize,
    /// Sentences of the answer, of these
    #[arg(long, default_value_t = 6)]
    pub(super) generated: usize,
    /// Time limit in seconds for each slower schedule. A longer one is measured in part and extrapolated
    #[arg(long, default_value_t = 8.0)]
    pub(super) seconds: f64,
    /// Write the figures (JSON) to this file
    #[arg(long, value_name = "FILE")]
    pub(super) json: PathBuf,
    /// Then measure how long each kernel runs, on the GPU, and write that (JSON lines) to this file
    #[arg(long, value_name = "FILE")]
    pub(super) profile: Option<PathBuf>,
}
