//! The header is looked at as soon as it has arrived: a model that cannot run is not downloaded further.

use crate::model::config::Config;
use crate::model::gguf::{Gguf, GgufError};
use crate::model::tensors;
use crate::problem::Problem;

/// When there are so many bytes, it is tried for the first time; then whenever there are twice as many.
const FIRST_TRY: usize = 64 << 10;
/// No header is longer.
const LONGEST: usize = 128 << 20;

/// The header so far, until it is whole and was looked at.
pub struct Vetting {
    bytes: Vec<u8>,
    next_try: usize,
    is_first_part: bool,
    /// Where the last tensor ends, by the header; `None` until that was looked at.
    end: Option<u64>,
}

impl Vetting {
    /// `is_first_part`: of a split model only the first part says what the model is.
    pub fn new(is_first_part: bool) -> Self {
        Self { bytes: Vec::new(), next_try: FIRST_TRY, is_first_part, end: None }
    }

    /// Takes the next bytes of a file of `total`. The problem says what is not supported, and what is.
    pub fn see(&mut self, bytes: &[u8], total: Option<u64>) -> Result<(), Problem> {
        if self.end.is_some() {
            return Ok(());
        }
        self.bytes.extend_from_slice(bytes);
        let is_all = total == Some(self.bytes.len() as u64);
        if self.bytes.len() < self.next_try && !is_all {
            return Ok(());
        }
        self.next_try = 2 * self.bytes.len();
        match self.look(total) {
            Err(GgufError::Truncated) if !is_all && self.bytes.len() < LONGEST => return Ok(()),
            Err(error) => return Err(unsupported(&error)),
            Ok(gguf) => {
                self.check(&gguf)?;
                self.end = Some(gguf.end());
            }
        }
        self.bytes = Vec::new();
        Ok(())
    }

    /// Whether the file, of `total` bytes as it turned out, holds all that its header names.
    pub fn finish(&self, total: u64) -> Result<(), Problem> {
        match self.end {
            Some(end) if end <= total => Ok(()),
            _ => Err(Problem::new("the file ended before all of the model was there; it was deleted", "Download it again")),
        }
    }

    fn look(&self, total: Option<u64>) -> Result<Gguf, GgufError> {
        Gguf::parse(&self.bytes, total.unwrap_or(u64::MAX))
    }

    fn check(&self, gguf: &Gguf) -> Result<(), Problem> {
        if !self.is_first_part || gguf.is_split() {
            return Ok(());
        }
        let config = Config::from_gguf(gguf).map_err(|error| unsupported(&error))?;
        tensors::check(gguf, &config).map_err(|error| unsupported(&error))
    }
}

pub fn unsupported(error: &dyn std::error::Error) -> Problem {
    Problem::new(error.to_string(), "Choose another model; it was not downloaded")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMO: &[u8] = include_bytes!("../../../public/models/demo.gguf");

    fn vet(file: &[u8], total: usize) -> Result<(), Problem> {
        let mut vetting = Vetting::new(true);
        file.chunks(10_000).try_for_each(|chunk| vetting.see(chunk, Some(total as u64)))
    }

    #[test]
    fn a_file_of_unknown_length_must_hold_what_its_header_names() {
        let mut vetting = Vetting::new(true);
        assert!(vetting.finish(0).is_err());
        vetting.see(DEMO, None).unwrap();
        assert!(vetting.finish(DEMO.len() as u64).is_ok() && vetting.finish(DEMO.len() as u64 - 100).is_err());
    }

    #[test]
    fn a_model_that_runs_is_let_through() {
        assert_eq!(vet(DEMO, DEMO.len()), Ok(()));
    }

    #[test]
    fn what_cannot_run_is_stopped_when_its_header_is_there() {
        let mut no_model = DEMO[..200_000].to_vec();
        let at = no_model.windows(17).position(|window| window == b"blk.0.attn_q.weig").unwrap();
        no_model[at + 6..at + 12].copy_from_slice(b"ssm_in");
        assert!(vet(&no_model, DEMO.len()).unwrap_err().what.contains("no tensor blk.0.attn_q.weight"));
        assert!(vet(DEMO, DEMO.len() - 1).unwrap_err().what.contains("cut off"));
        assert!(vet(b"<html>", 6).unwrap_err().what.contains("not a GGUF"));
        assert!(vet(&DEMO[..500], 500).is_err());
    }
}
