//! The command line `glasscage`: runs the library natively.

mod answer;
mod bench;
mod certainty;
mod contrast;
mod evaluate;
mod explain;
mod export;
mod filters;
mod gallery;
mod gpu;
mod interrupt;
mod kernels;
mod models;
#[cfg(test)]
mod options;
mod output;
mod passages;
mod quantize;
mod remarks;
mod threads;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use models::BackendArgument;

/// Exit code of a command that failed.
const FAILURE: u8 = 2;

/// Shows why a language model answered as it did.
#[derive(Parser)]
#[command(name = "glasscage", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answer a prompt and write the explanation document
    Explain(Box<explain::Arguments>),
    /// Write an explanation as a picture, a page, a table or a link
    Export(Box<export::Arguments>),
    /// JSON lines {"prompt"} -> {"answer", "tokens"}: greedy answers with the model's chat template
    Answer(answer::Arguments),
    /// Explain all problems of a data set, and measure the quality of the explanations
    Evaluate(Box<evaluate::Arguments>),
    /// Explain the page's example prompts beforehand, and make its lessons
    Gallery(gallery::Arguments),
    /// JSON lines `{"text"} -> {"ids", "ids_special"}`: without BOS and special tokens, and with both
    Tokenize {
        /// A GGUF file
        #[arg(long)]
        model: PathBuf,
    },
    /// JSON lines {"text"} -> {"sentences": [[start, end], ..]} in code points
    Split,
    /// JSON lines `{"table", "n_prompt", "output", "normalization"}` -> adjacency, influence and attributions
    Graph,
    /// JSON lines {"ids"} or {"text"}, with optional "replace": [[start, end], ..] -> {"ids", "logprobs"}
    Score {
        /// A GGUF file
        #[arg(long)]
        model: PathBuf,
        /// Engine that computes
        #[arg(long, value_enum, default_value = "cpu")]
        backend: BackendArgument,
    },
    /// Write a model with its matrices in a smaller tensor type
    Quantize(quantize::Arguments),
    /// Measure an engine on this machine: load, prefill, decode, and the attribution job in three schedules
    Bench(bench::Arguments),
    /// Describe this machine's GPU and measure its peak throughput, as JSON lines
    Gpu(gpu::Arguments),
    /// Write every kernel of the engine on the GPU as WGSL, a file each: DIR/VARIANT/NAME.wgsl
    Kernels(kernels::Arguments),
}

/// Runs the command that the arguments of this program name. Returns exit code 2 after a failure. Has to be called before another thread
/// starts.
pub fn run() -> ExitCode {
    threads::leave_one_to_candle();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::say(&error.to_string());
            return ExitCode::from(FAILURE);
        }
        Err(error) if error.use_stderr() => {
            let message = error.to_string();
            // Clap's first paragraph names the error; usage follows.
            let paragraph = message.split("\n\n").next().unwrap_or_default();
            return fail(paragraph.trim_start_matches("error: "));
        }
        Err(help) => {
            return output::print(&help.to_string()).map_or_else(|message| fail(&message), |()| ExitCode::SUCCESS);
        }
    };
    let done = match cli.command {
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Answer(arguments) => answer::answer(&arguments),
        Command::Evaluate(arguments) => evaluate::evaluate(&arguments),
        Command::Gallery(arguments) => gallery::gallery(&arguments),
        Command::Tokenize { model } => filters::tokenize(&model),
        Command::Split => filters::split(),
        Command::Graph => filters::graph(),
        Command::Score { model, backend } => filters::score(&model, backend),
        Command::Quantize(arguments) => quantize::quantize(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Gpu(arguments) => gpu::gpu(&arguments),
        Command::Kernels(arguments) => kernels::kernels(&arguments),
    };
    done.map_or_else(|message| fail(&message), |()| ExitCode::SUCCESS)
}

/// Prints one line to standard error. Returns exit code 2.
fn fail(message: &str) -> ExitCode {
    output::say(&format!("glasscage: {}\n", message.split_whitespace().collect::<Vec<_>>().join(" ")));
    ExitCode::from(FAILURE)
}
