//! What is measured, and how.

use std::path::PathBuf;

use clap::Args;

use crate::models::BackendArgument;

#[derive(Args)]
pub struct Arguments {
    /// A GGUF file
    #[arg(long)]
    pub(super) model: PathBuf,
    #[arg(long, value_enum, default_value = "cpu")]
    pub(super) backend: BackendArgument,
    /// Of prompt and answer together
    #[arg(long, default_value_t = 300)]
    pub(super) tokens: usize,
    /// Of prompt and answer together, all of the same length
    #[arg(long, default_value_t = 15)]
    pub(super) sentences: usize,
    /// How many of the sentences are the answer
    #[arg(long, default_value_t = 6)]
    pub(super) generated: usize,
    /// What the slower schedules may take, each; where they need more, a part is measured and scaled up
    #[arg(long, default_value_t = 8.0)]
    pub(super) seconds: f64,
    /// Where the numbers go
    #[arg(long, value_name = "OUT")]
    pub(super) json: PathBuf,
}
