//! The command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    glasscage_cli::run()
}
