//! Checks the header as soon as it has arrived, so that an unsupported model is not downloaded further.

use glasscage_message::{Message, ToMessage};

use crate::library::errors::LibraryError;
use crate::model::chat;
use crate::model::config::Config;
use crate::model::gguf::{Gguf, GgufError, MAX_HEADER};
use crate::model::tensors;
use crate::model::tokenizer::Tokenizer;

/// Size of the first attempt to parse the header. Further attempts follow whenever the size has doubled.
const FIRST_PARSE_BYTES: usize = 64 << 10;

/// Collects the header until it is complete and checked.
pub struct HeaderValidator {
    bytes: Vec<u8>,
    next_parse_bytes: usize,
    is_first_file: bool,
    /// End of the last tensor according to the header; `None` until known.
    end: Option<u64>,
    /// Why the chat template cannot be used. The model then runs without it.
    pub template_problem: Option<Message>,
}

impl HeaderValidator {
    /// `is_first_file`: only the first file of a split model describes the model.
    pub fn new(is_first_file: bool) -> Self {
        Self { bytes: Vec::new(), next_parse_bytes: FIRST_PARSE_BYTES, is_first_file, end: None, template_problem: None }
    }

    /// Adds the next bytes of a file of `total` bytes. The error says what is not supported, and what is.
    pub fn push(&mut self, bytes: &[u8], total: Option<u64>) -> Result<(), LibraryError> {
        if self.end.is_some() {
            return Ok(());
        }
        self.bytes.extend_from_slice(bytes);
        let is_all = total == Some(self.bytes.len() as u64);
        if self.bytes.len() < self.next_parse_bytes && !is_all {
            return Ok(());
        }
        self.next_parse_bytes = 2 * self.bytes.len();
        match self.parse(total) {
            Err(GgufError::Truncated) if !is_all && self.bytes.len() < MAX_HEADER => return Ok(()),
            Err(error) => return Err(unsupported(&error)),
            Ok(gguf) => {
                self.check(&gguf)?;
                self.end = Some(gguf.end());
            }
        }
        self.bytes = Vec::new();
        Ok(())
    }

    /// Checks that the file, which has `total` bytes, contains everything that its header lists.
    pub fn finish(&self, total: u64) -> Result<(), LibraryError> {
        match self.end {
            Some(end) if end <= total => Ok(()),
            _ => Err(LibraryError::Truncated),
        }
    }

    fn parse(&self, total: Option<u64>) -> Result<Gguf, GgufError> {
        Gguf::parse(&self.bytes, total.unwrap_or(u64::MAX))
    }

    fn check(&mut self, gguf: &Gguf) -> Result<(), LibraryError> {
        if !self.is_first_file {
            return Ok(());
        }
        let tokenizer = Tokenizer::from_metadata(&gguf.metadata).map_err(|error| unsupported(&error))?;
        self.template_problem = chat::usable_template(&gguf.metadata, &tokenizer).err().map(|error| error.to_message());
        if gguf.is_split() {
            return Ok(());
        }
        let config = Config::from_gguf(gguf).map_err(|error| unsupported(&error))?;
        tensors::check(gguf, &config).map_err(|error| unsupported(&error))
    }
}

pub fn unsupported(error: &dyn ToMessage) -> LibraryError {
    LibraryError::Unsupported(error.to_message())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::standard;
    use crate::model::source::{BytesInMemory, Joined};
    use crate::model::summary::ModelSummary;

    const DEMO: &[u8] = include_bytes!("../../../../tests/fixtures/models/demo.gguf");

    fn validate(file: &[u8], total: usize) -> Result<(), LibraryError> {
        let mut validator = HeaderValidator::new(true);
        file.chunks(10_000).try_for_each(|chunk| validator.push(chunk, Some(total as u64)))
    }

    #[test]
    fn file_of_unknown_length_must_be_complete() {
        let mut validator = HeaderValidator::new(true);
        assert!(validator.finish(0).is_err());
        validator.push(DEMO, None).unwrap();
        assert!(validator.finish(DEMO.len() as u64).is_ok() && validator.finish(DEMO.len() as u64 - 100).is_err());
    }

    #[test]
    fn supported_model_passes() {
        assert_eq!(validate(DEMO, DEMO.len()), Ok(()));
    }

    #[test]
    fn standard_model_passes_in_parts() {
        let paths = standard::spec(concat!(env!("CARGO_MANIFEST_DIR"), "/public/models/standard/standard-00001-of-00003.gguf")).files;
        let parts = paths.iter().map(|file| std::fs::read(&file.address).expect("the part is in the checkout"));
        let parts: Vec<BytesInMemory> = parts.map(BytesInMemory).collect();
        for (i, BytesInMemory(part)) in parts.iter().enumerate() {
            let mut validator = HeaderValidator::new(i == 0);
            part.chunks(1 << 20).try_for_each(|chunk| validator.push(chunk, Some(part.len() as u64))).unwrap();
            validator.finish(part.len() as u64).unwrap();
        }
        let summary = ModelSummary::of(&parts[0].0[..FIRST_PARSE_BYTES]).unwrap();
        assert_eq!((summary.name.as_deref(), summary.architecture), (Some(standard::NAME), "llama"));
        assert_eq!((summary.context_length, summary.bytes_per_token), (1024, 46_080));
        let whole = pollster::block_on(Gguf::read(&Joined::new(parts))).unwrap();
        tensors::check(&whole, &Config::from_gguf(&whole).unwrap()).unwrap();
        assert_eq!(whole.n_parameters(), standard::PARAMETERS);
    }

    #[test]
    fn unsupported_model_is_stopped_at_header() {
        let mut no_model = DEMO[..200_000].to_vec();
        let at = no_model.windows(17).position(|window| window == b"blk.0.attn_q.weig").unwrap();
        no_model[at + 6..at + 12].copy_from_slice(b"ssm_in");
        assert!(validate(&no_model, DEMO.len()).unwrap_err().to_string().contains("no tensor blk.0.attn_q.weight"));
        assert!(validate(DEMO, DEMO.len() - 1).unwrap_err().to_string().contains("cut off"));
        let mut no_tokenizer = DEMO.to_vec();
        let at = no_tokenizer.windows(21).position(|window| window == b"tokenizer.ggml.merges").unwrap();
        no_tokenizer[at + 20] = b'?';
        assert!(validate(&no_tokenizer, DEMO.len()).unwrap_err().to_string().contains("tokenizer.ggml.merges is missing"));
        assert!(validate(b"<html>", 6).unwrap_err().to_string().contains("not a GGUF"));
        assert!(validate(&DEMO[..500], 500).is_err());
    }
}
