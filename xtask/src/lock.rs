//! File locks that only one process holds at a time. The system releases them when the process ends, even if it crashes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// Holds a lock until it is dropped.
pub struct Lock {
    _file: File,
}

/// Waits until no other process holds the lock `file`. `work` describes the locked work, such as "an installation".
pub fn lock(file: &Path, work: &str) -> Result<Lock> {
    let folder = file.parent().context("a lock lies in a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file);
    let mut opened = open().with_context(|| format!("cannot open {}", file.display()))?;
    match opened.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            opened.read_to_string(&mut holder).ok();
            println!("{work} by another process ({}) is going on; this one waits for its end", holder.trim());
            opened.lock().with_context(|| format!("cannot lock {}", file.display()))?;
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(|| format!("cannot lock {}", file.display())),
    }
    opened.set_len(0)?;
    opened.rewind()?;
    write!(opened, "PID {}", std::process::id())?;
    Ok(Lock { _file: opened })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn only_one_thread_holds_lock() {
        let file = std::env::temp_dir().join(format!("glasscage-lock-{}", std::process::id()));
        let (holding, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _lock = lock(&file, "a test").unwrap();
                    most.fetch_max(holding.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::yield_now();
                    holding.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("PID {}", std::process::id()));
        fs::remove_file(file).unwrap();
    }
}
