//! The named passages of a prompt, with their units and tokens.

use std::ops::Range;

use super::prompt::ReadPrompt;
use glasscage_core::explanation::{Group, GroupKind};
use glasscage_text::passages::{MAX_PASSAGES, NamedPassage, passages};
use glasscage_text::spans::first_visible;

/// The named passages of each part of a prompt. None if a document cannot have as many.
pub fn passages_of(prompt: &ReadPrompt) -> Vec<Vec<NamedPassage>> {
    let found: Vec<Vec<NamedPassage>> = prompt.parts.iter().map(|part| passages(&part.content.text)).collect();
    let n_passages: usize = found.iter().map(Vec::len).sum();
    if n_passages <= MAX_PASSAGES { found } else { vec![Vec::new(); prompt.parts.len()] }
}

/// The units of a part of a prompt.
pub struct PartUnits<'a> {
    /// The text of the part.
    pub text: &'a str,
    /// The bytes of each unit.
    pub units: &'a [Range<usize>],
    /// Index of the first unit among all units of the prompt.
    pub first: usize,
    /// The positions of the tokens of each unit.
    pub tokens: &'a [Range<usize>],
    /// Position of the part's first token.
    pub start: usize,
    /// The bytes that each token of the part covers.
    pub spans: &'a [Range<usize>],
}

impl PartUnits<'_> {
    /// The units of a passage, and the positions of their tokens without those of its name, which stays in the text. No unit spans the
    /// start or the end of a passage. `None` if no unit is in the passage.
    pub fn group(&self, NamedPassage { name, mark, bytes }: &NamedPassage) -> Option<(Group, Range<usize>)> {
        let start = self.units.partition_point(|unit| unit.start < bytes.start);
        let end = self.units.partition_point(|unit| unit.start < bytes.end);
        let sources = [self.first + start, self.first + end];
        let group = Group { name: name.clone(), kind: GroupKind::Passage, sources, effects: Vec::new() };
        let after_name = self.start + self.spans.partition_point(|token| first_visible(self.text, token) < mark.end);
        let tokens = self.tokens.get(start..end)?;
        Some((group, tokens.first()?.start.max(after_name)..tokens.last()?.end.max(after_name)))
    }
}
