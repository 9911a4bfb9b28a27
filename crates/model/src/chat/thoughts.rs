//! Thinking sections: text that a model writes before its answer, between delimiters from its template and its vocabulary.

use std::ops::Range;

use super::template::ChatTemplate;
use crate::tokenizer::{TokenId, Tokenizer};

/// Delimiters of a thinking section, by family. A model uses them if its template contains the closing one and its vocabulary has special
/// tokens for both (`<|channel>` is one, followed by the word).
const DELIMITERS: [(&str, &str); 3] = [("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<|channel>thought", "<channel|>")];

/// The tokens around a thinking section. They control the model and belong to no sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThoughtTokens {
    open: Vec<TokenId>,
    close: Vec<TokenId>,
    /// Closes a thinking section that is too long: `close`, with line breaks as templates write them.
    ending: Vec<TokenId>,
}

/// A part of a generation, without the delimiters of thinking sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedPart {
    pub is_thought: bool,
    pub tokens: Range<usize>,
}

impl ThoughtTokens {
    /// The delimiters of a model; `None` if its template has none.
    pub fn of(template: &ChatTemplate, tokenizer: &Tokenizer) -> Option<Self> {
        let tokens = |text: &str| -> Vec<TokenId> { tokenizer.encode_partly_plain(text, &[]).into_iter().map(|token| token.id).collect() };
        let (open, close) = DELIMITERS.into_iter().find(|(open, close)| {
            let is_one =
                |text: &str| tokens(text).first().is_some_and(|&id| text.starts_with(&tokenizer.name(id)) && tokenizer.is_special(id));
            template.says(close) && is_one(open) && is_one(close)
        })?;
        Some(Self { open: tokens(open), close: tokens(close), ending: tokens(&format!("\n{close}\n\n")) })
    }

    /// Whether text after this end of a rendered template continues a thinking section. Templates may open one, or close an empty one.
    pub fn is_open_after(&self, end: &[TokenId]) -> bool {
        let last = |delimiter: &[TokenId]| end.windows(delimiter.len()).rposition(|window| window == delimiter);
        last(&self.open) > last(&self.close)
    }

    pub fn ending(&self) -> &[TokenId] {
        &self.ending
    }

    /// Splits a generation at its delimiters. `begins_in_thought`: it begins inside a thinking section.
    pub fn parts(&self, generated: &[TokenId], begins_in_thought: bool) -> Vec<GeneratedPart> {
        let (mut parts, mut is_thought, mut start, mut at) = (Vec::new(), begins_in_thought, 0, 0);
        while at < generated.len() {
            let delimiter = if is_thought { &self.close } else { &self.open };
            if generated[at..].starts_with(delimiter) {
                parts.push(GeneratedPart { is_thought, tokens: start..at });
                is_thought = !is_thought;
                at += delimiter.len();
                start = at;
            } else {
                at += 1;
            }
        }
        parts.push(GeneratedPart { is_thought, tokens: start..at });
        parts.retain(|part| !part.tokens.is_empty());
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: TokenId = 1;
    const CLOSE: TokenId = 2;

    fn thoughts() -> ThoughtTokens {
        ThoughtTokens { open: vec![OPEN], close: vec![CLOSE], ending: vec![9, CLOSE, 9] }
    }

    fn part(is_thought: bool, tokens: Range<usize>) -> GeneratedPart {
        GeneratedPart { is_thought, tokens }
    }

    #[test]
    fn a_generation_is_cut_at_its_delimiters() {
        let parts = |generated: &[TokenId], begins| thoughts().parts(generated, begins);
        assert_eq!(parts(&[5, 6], false), [part(false, 0..2)]);
        assert_eq!(parts(&[OPEN, 5, 6, CLOSE, 7], false), [part(true, 1..3), part(false, 4..5)]);
        assert_eq!(parts(&[5, CLOSE, 7], true), [part(true, 0..1), part(false, 2..3)]);
        assert_eq!(parts(&[OPEN, 5], false), [part(true, 1..2)], "cut off in the middle");
        assert_eq!(parts(&[5, CLOSE, 6], false), [part(false, 0..3)], "what was never opened closes nothing");
        assert_eq!(parts(&[OPEN, CLOSE, 5], false), [part(false, 2..3)], "an empty thought is none");
        assert_eq!(parts(&[], true), []);
    }

    #[test]
    fn the_last_delimiter_says_whether_a_thought_is_open() {
        let is_open = |end: &[TokenId]| thoughts().is_open_after(end);
        assert_eq!(
            [is_open(&[5]), is_open(&[OPEN]), is_open(&[OPEN, CLOSE]), is_open(&[OPEN, CLOSE, 5, OPEN, 5])],
            [false, true, false, true]
        );
    }
}
