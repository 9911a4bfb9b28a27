//! The named passages of a prompt, with their units and tokens.

use std::ops::Range;

use super::prompt::{PromptPart, ReadPrompt};
use glasscage_core::explanation::{Group, GroupKind, Speaker};
use glasscage_text::passages::{MAX_PASSAGES, NamedPassage, passages};
use glasscage_text::spans::first_visible;

/// The named passages of each part of a prompt. Answers of the model have none: they cite. If the parts together have more than a document
/// can have, or two with the same name, only the last part with passages has them.
pub fn passages_of(prompt: &ReadPrompt) -> Vec<Vec<NamedPassage>> {
    let of_part = |part: &PromptPart| match part.speaker {
        Some(Speaker::Assistant) => Vec::new(),
        _ => passages(&part.content.text),
    };
    let mut found: Vec<Vec<NamedPassage>> = prompt.parts.iter().map(of_part).collect();
    let mut names: Vec<String> = found.iter().flatten().map(|passage| passage.name.to_lowercase()).collect();
    let n_passages = names.len();
    names.sort_unstable();
    names.dedup();
    if n_passages > MAX_PASSAGES || names.len() < n_passages {
        let last = found.iter().rposition(|passages| !passages.is_empty()).unwrap_or(0);
        found.iter_mut().take(last).for_each(Vec::clear);
    }
    found
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

#[cfg(test)]
mod tests {
    use super::*;
    use glasscage_protocol::request::{Question, Reading};

    fn names(prompt: &str) -> Vec<Vec<String>> {
        let question = Question { reading: Reading::Conversation, ..Question::greedy(prompt) };
        let prompt = ReadPrompt::of(&question).expect("a conversation");
        passages_of(&prompt).into_iter().map(|passages| passages.into_iter().map(|passage| passage.name).collect()).collect()
    }

    #[test]
    fn passages_are_those_of_turns() {
        let two = "[1] Ann.\n[2] Bob.\n\nWho?";
        assert_eq!(names(&format!("System: {two}\nUser: [a] Ann.\n[b] Bob.")), [["1", "2"], ["a", "b"]]);
        assert_eq!(names(&format!("User: {two}\nAssistant: [a] x\n[b] y\nUser: So?")), [vec!["1", "2"], vec![], vec![]]);
        assert_eq!(names(&format!("User: {two}\nAssistant: Ann.\nUser: {two}")), [vec![], vec![], vec!["1", "2"]]);
    }
}
