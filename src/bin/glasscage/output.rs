//! Standard output, whose reader may have closed it: `glasscage explain --help | head -1`.

use std::io::{self, ErrorKind, Write};

/// Writes `text`; a closed pipe is not an error: its reader has read enough.
pub fn print(text: &str) -> Result<(), String> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("cannot write to standard output: {error}")),
        _ => Ok(()),
    }
}
