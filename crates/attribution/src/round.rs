//! Texts to score in one run: a base text, and passes over it for each source.

use std::ops::Range;

use super::transcript::{Segments, Transcript};
use glasscage_engine::lm::{Edit, Pass};
use glasscage_model::tokenizer::TokenId;

/// Input of a plan: a text and the sources to perturb.
pub struct PlanInput<'a> {
    pub transcript: &'a Transcript,
    pub segments: &'a Segments,
    /// Tokens of the sources to perturb. No source is empty.
    pub sources: &'a [Range<usize>],
    /// For each source, an equal number of replacement tokens. Only for methods that infill text.
    pub infills: &'a [Vec<TokenId>],
}

/// A base text and passes over it. Each source has the same number of passes.
pub struct Round {
    /// Edits of the base text.
    pub edits: Vec<Edit>,
    pub passes: Vec<Vec<Pass>>,
}

impl Round {
    /// A round whose base text is the unchanged text.
    pub fn unchanged(passes: Vec<Vec<Pass>>) -> Self {
        Self { edits: Vec::new(), passes }
    }
}
