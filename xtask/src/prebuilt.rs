//! Installs programs that their authors compiled, if they can be downloaded. Saves minutes of compilation.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::command::{command, output, run};
use crate::hash::sha256;

/// Limits for curl: time to connect and total time. It also stops below 50 kB/s. Compilation takes longer than all of these. It retries
/// after any error, because by default it does not retry when a proxy refuses a connection.
#[rustfmt::skip]
const LIMITS: [&str; 13] = [
    "--retry", "2", "--retry-all-errors", "--retry-delay", "1",
    "--connect-timeout", "5", "--max-time", "90", "--speed-limit", "50000", "--speed-time", "5",
];

/// An archive (tar, gzip) that contains a program at its top level.
pub struct Prebuilt<'a> {
    pub program: &'a str,
    /// Output of the program for `--version`.
    pub version: &'a str,
    pub address: &'a str,
    /// Hash of the archive.
    pub sha256: &'a str,
}

impl Prebuilt<'_> {
    /// Downloads the program to `home/bin`, which exists afterward only if all checks passed.
    pub fn install(&self, home: &Path) -> Result<()> {
        let partial = PathBuf::from(format!("{}.partial", home.display()));
        fs::remove_dir_all(&partial).ok();
        fs::create_dir_all(partial.join("bin"))?;
        let installed = self.unpack(&partial).and_then(|()| self.check(&partial.join("bin")));
        if let Err(error) = installed {
            fs::remove_dir_all(&partial)?;
            return Err(error);
        }
        fs::remove_dir_all(home).ok();
        Ok(fs::rename(partial, home)?)
    }

    /// Downloads the archive and unpacks the program into `folder/bin`.
    fn unpack(&self, folder: &Path) -> Result<()> {
        let archive = folder.join("archive.tar.gz");
        run(command("curl", &["--fail", "--silent", "--show-error", "--location"])
            .args(LIMITS)
            .arg("--output")
            .arg(&archive)
            .arg(self.address))?;
        let found = sha256(&fs::read(&archive)?);
        ensure!(found == self.sha256, "{} has the SHA-256 {found}, not {}", self.address, self.sha256);
        run(command("tar", &["--extract", "--gzip", "--file"]).arg(&archive).arg("--directory").arg(folder.join("bin")).arg(self.program))?;
        Ok(fs::remove_file(archive)?)
    }

    /// Checks that the program runs on this machine and has the right version.
    fn check(&self, bin: &Path) -> Result<()> {
        let version = output(&mut command(bin.join(self.program), &["--version"])).context("the downloaded program does not run here")?;
        if version.trim() != self.version {
            bail!("the downloaded program says that it is {}, not {}", version.trim(), self.version);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// The archive of a program that prints `tool 1.0`.
    fn archive(folder: &Path) -> Vec<u8> {
        fs::write(folder.join("tool"), "#!/bin/sh\necho tool 1.0\n").unwrap();
        run(command("chmod", &["755"]).arg(folder.join("tool"))).unwrap();
        run(command("tar", &["--create", "--gzip", "--file"]).arg(folder.join("made")).arg("--directory").arg(folder).arg("tool")).unwrap();
        fs::read(folder.join("made")).unwrap()
    }

    /// Starts a server that answers one request with `status` and `body`. Returns its URL.
    fn serve_once(status: &'static str, body: Vec<u8>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/tool.tar.gz", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _request = stream.read(&mut [0; 4096]).unwrap();
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len()).unwrap();
            stream.write_all(&body).unwrap();
        });
        address
    }

    fn empty_folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("glasscage-{name}-{}", std::process::id()));
        fs::remove_dir_all(&folder).ok();
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn install(folder: &Path, address: &str, sha256: &str, version: &str) -> Result<()> {
        Prebuilt { program: "tool", version, address, sha256 }.install(&folder.join("home-1.0"))
    }

    #[test]
    fn program_with_right_hash_is_installed() {
        let folder = empty_folder("right");
        let body = archive(&folder);
        let hash = sha256(&body);
        install(&folder, &serve_once("200 OK", body), &hash, "tool 1.0").unwrap();
        assert_eq!(output(&mut command(folder.join("home-1.0/bin/tool"), &[])).unwrap(), "tool 1.0\n");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn wrong_hash_version_or_answer_is_not_installed() {
        let folder = empty_folder("wrong");
        let body = archive(&folder);
        let hash = sha256(&body);
        let wrong = [
            (serve_once("200 OK", b"another archive".to_vec()), "tool 1.0", "SHA-256"),
            (serve_once("200 OK", body.clone()), "tool 2.0", "says that it is tool 1.0"),
            (serve_once("404 Not Found", body), "tool 1.0", "curl"),
            ("http://127.0.0.1:1/tool.tar.gz".to_owned(), "tool 1.0", "curl"),
        ];
        for (address, version, reason) in wrong {
            let error = format!("{:#}", install(&folder, &address, &hash, version).unwrap_err());
            assert!(error.contains(reason), "{error}");
            assert!(!folder.join("home-1.0").exists() && !folder.join("home-1.0.partial").exists());
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
