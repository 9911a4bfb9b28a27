//! What the command line writes: files, and standard output and standard error, whose readers may have gone
//! (`glasscage explain --help | head -1`).

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Writes `text`; a closed pipe is not an error: its reader has read enough.
pub fn print(text: &str) -> Result<(), String> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("cannot write to standard output: {error}")),
        _ => Ok(()),
    }
}

/// Says something on standard error, whether anybody reads it or not: the work goes on.
pub fn say(text: &str) {
    let mut output = io::stderr().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).ok();
}

/// Writes a file anew.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), String> {
    fs::write(path, contents).map_err(|error| cannot_write(path, &error))
}

/// Refuses a file that cannot be written, before the work whose result it is to hold. Nothing stays of the attempt.
pub fn check_writable(path: &Path) -> Result<(), String> {
    let attempt = match fs::metadata(path) {
        // The reader of a pipe takes its end for the end of the result.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        // The link that leads to it stays.
        Err(_) => {
            OpenOptions::new().write(true).create(true).truncate(false).open(path).and_then(|_| fs::remove_file(path.canonicalize()?))
        }
    };
    attempt.map_err(|error| cannot_write(path, &error))
}

pub fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_checked_without_a_trace() {
        let folder = std::env::temp_dir().join(format!("glasscage-output-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (old, new) = (folder.join("old"), folder.join("new"));
        fs::write(&old, "kept").unwrap();
        assert_eq!([check_writable(&old), check_writable(&new), check_writable(Path::new("/dev/null"))], [Ok(()), Ok(()), Ok(())]);
        assert_eq!((fs::read_to_string(&old).unwrap().as_str(), new.exists()), ("kept", false));
        for bad in [folder.clone(), folder.join("none/new"), old.join("new")] {
            assert!(check_writable(&bad).is_err_and(|error| error.contains("cannot write")), "{}", bad.display());
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
