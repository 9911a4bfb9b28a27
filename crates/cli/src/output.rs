//! Reads files and standard input; writes files, standard output and standard error. The reader of a standard stream may close it early
//! (`glasscage explain --help | head -1`).

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// Writes `text` to standard output. A closed pipe is not an error, because its reader has read enough.
pub fn print(text: &str) -> Result<(), String> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("cannot write to standard output: {error}")),
        _ => Ok(()),
    }
}

/// Writes `text` to standard error. Ignores errors, because the work continues without a reader.
pub fn say(text: &str) {
    let mut output = io::stderr().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).ok();
}

/// Parses one line of a file of JSON lines. `number` counts from 1. Errors with the line and the column in the file.
pub fn parse_line<T: DeserializeOwned>(line: &str, number: usize) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        format!("line {number}, column {}: {}", error.column(), error.to_string().trim_end_matches(&place))
    })
}

/// A source whose lines after the first one start in this column.
pub fn indented(source: &str, column: usize) -> String {
    source.trim().replace('\n', &format!("\n{:column$}", ""))
}

/// Whether an argument that names a file is `-`, which stands for standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// What messages call a file that is read.
pub fn input_name(path: &Path) -> String {
    if is_standard_input(path) { "standard input".into() } else { path.display().to_string() }
}

/// Reads a file, or standard input.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let content = if is_standard_input(path) { io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes) } else { fs::read(path) };
    content.map_err(|error| format!("cannot read {}: {error}", input_name(path)))
}

/// Writes a file, and replaces its content.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), String> {
    fs::write(path, contents).map_err(|error| cannot_write(path, &error))
}

/// Checks before the work that its result can be written to this file. Leaves no trace.
pub fn check_writable(path: &Path) -> Result<(), String> {
    let attempt = match fs::metadata(path) {
        // Do not open a pipe, because its reader would read the close as the end of the result.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        // Removes the new file, but not a symbolic link that leads to it.
        Err(_) => {
            OpenOptions::new().write(true).create(true).truncate(false).open(path).and_then(|_| fs::remove_file(path.canonicalize()?))
        }
    };
    attempt.map_err(|error| cannot_write(path, &error))
}

/// Whether `path` leads to one of these files, perhaps under another name. False if it does not exist.
pub fn is_one_of(path: &Path, files: &[PathBuf]) -> bool {
    path.canonicalize().is_ok_and(|path| files.iter().any(|file| file.canonicalize().is_ok_and(|file| file == path)))
}

pub fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_lines_of_source_are_indented() {
        assert_eq!(indented("A:\n  1\n\n", 3), "A:\n     1");
    }

    #[test]
    fn invalid_line_is_named_with_its_place_in_the_file() {
        assert_eq!(parse_line::<Vec<usize>>("[1, 2]", 3), Ok(vec![1, 2]));
        assert_eq!(parse_line::<Vec<usize>>("[1, ", 3).unwrap_err(), "line 3, column 4: EOF while parsing a value");
    }

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
