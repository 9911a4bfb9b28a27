//! Parts of a prompt that the visitor puts between `[[` and `]]`. The marks are removed before a model reads the prompt.

use std::ops::Range;

const OPENING: &str = "[[";
const CLOSING: &str = "]]";

/// A prompt without marks, and its marked parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bracketed {
    pub text: String,
    /// The marked parts of `text` without white space at their ends: byte ranges, in order, never empty.
    pub parts: Vec<Range<usize>>,
}

/// Why the marks of a prompt are not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BracketError {
    /// `[[` without `]]` after it.
    Unclosed,
    /// `]]` without `[[` before it, or within a marked part.
    Unopened,
    /// `[[` within a marked part.
    Nested,
    /// Only white space between the marks.
    Empty,
}

impl Bracketed {
    /// A text without marked parts.
    pub fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), parts: Vec::new() }
    }

    /// Reads the marks of `marked` and removes them. In a run of more than two brackets, the outer two are the mark: `[[x[0]]]` marks
    /// `x[0]`.
    ///
    /// ```
    /// use glasscage_text::brackets::Bracketed;
    ///
    /// let Bracketed { text, parts } = Bracketed::new("[[Ann has 3. Bob has 4.]] Who has more?").expect("the marks are valid");
    /// assert_eq!((&*text, &text[parts[0].clone()]), ("Ann has 3. Bob has 4. Who has more?", "Ann has 3. Bob has 4."));
    /// ```
    pub fn new(marked: &str) -> Result<Self, BracketError> {
        let mut found = Self::default();
        let mut rest = marked;
        while let Some(open) = rest.find(OPENING) {
            let (before, after) = (&rest[..open], &rest[open + OPENING.len()..]);
            if before.contains(CLOSING) {
                return Err(BracketError::Unopened);
            }
            let close = after.find(CLOSING).ok_or(BracketError::Unclosed)?;
            let run = after[close..].len() - after[close..].trim_start_matches(']').len();
            let inside = &after[..close + run - CLOSING.len()];
            if inside.contains(OPENING) {
                return Err(BracketError::Nested);
            }
            if inside.trim().is_empty() {
                return Err(BracketError::Empty);
            }
            if inside.contains(CLOSING) {
                return Err(BracketError::Unopened);
            }
            found.text.push_str(before);
            found.parts.push(found.text.len()..found.text.len() + inside.trim_end().len());
            found.text.push_str(inside);
            rest = &after[close + run..];
        }
        if rest.contains(CLOSING) {
            return Err(BracketError::Unopened);
        }
        found.text.push_str(rest);
        Ok(found)
    }

    /// The marked parts, and the units that `split` finds in the text between them: byte ranges of the text, in order, never empty.
    /// Characters after a part up to the next white space belong to it if they have no letter or digit, and so does all text without
    /// letters and digits.
    pub fn units(&self, split: impl Fn(&str) -> Vec<Range<usize>>) -> Vec<Range<usize>> {
        let mut units = Vec::new();
        let mut start = 0;
        for part in &self.parts {
            self.push_between(start..part.start, &split, &mut units);
            units.push(part.clone());
            start = part.end;
        }
        self.push_between(start..self.text.len(), &split, &mut units);
        units
    }

    /// Adds the units of the text between two parts.
    fn push_between(&self, between: Range<usize>, split: impl Fn(&str) -> Vec<Range<usize>>, units: &mut Vec<Range<usize>>) {
        let text = &self.text[between.clone()];
        let attached = text.find(char::is_whitespace).unwrap_or(text.len());
        let is_attached = between.start > 0 && !text[..attached].contains(char::is_alphanumeric);
        let start = if is_attached { text.len() - text[attached..].trim_start().len() } else { 0 };
        if text[start..].contains(char::is_alphanumeric) || self.parts.is_empty() {
            let at = between.start + start;
            units.extend(split(&text[start..]).into_iter().map(|unit| at + unit.start..at + unit.end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::{sentences, tile};

    fn tiles(marked: &str) -> Vec<String> {
        let found = Bracketed::new(marked).expect("the marks are valid");
        tile(&found.text, &found.units(sentences)).into_iter().map(|tile| found.text[tile].to_owned()).collect()
    }

    #[test]
    fn text_outside_marks_is_split_into_sentences() {
        assert_eq!(
            tiles("Hi. Look: [[Ann has 3. She eats 1.]]\n[[Bob has 4]]. He runs. Who?"),
            ["Hi. ", "Look: ", "Ann has 3. She eats 1.\n", "Bob has 4. ", "He runs. ", "Who?"]
        );
        assert_eq!(tiles("One. Two."), ["One. ", "Two."]);
        assert_eq!(tiles("- [[ Zoë ]] - [[2]] !"), ["-  Zoë  - ", "2 !"]);
        assert_eq!(tiles("..."), ["..."]);
    }

    #[test]
    fn outer_brackets_of_a_run_are_the_mark() {
        let found = |marked: &str| Bracketed::new(marked).map(|found| (found.text.clone(), found.text[found.parts[0].clone()].to_owned()));
        assert_eq!(found("f([[x[0]]])"), Ok(("f(x[0])".into(), "x[0]".into())));
        assert_eq!(found("[[[1] a]] b"), Ok(("[1] a b".into(), "[1] a".into())));
    }

    #[test]
    fn invalid_marks_are_errors() {
        let error = |marked: &str| Bracketed::new(marked).expect_err("the marks are not valid");
        assert_eq!(["[[a", "a [[b]] [[", "[[a]", "[[["].map(error), [BracketError::Unclosed; 4]);
        assert_eq!(["a]]", "[[a]] b]]", "x[y[0]]", "]] [[a]]", "[[a]]]]"].map(error), [BracketError::Unopened; 5]);
        assert_eq!(["[[a [[b]] c]]", "[[[[a]]]]"].map(error), [BracketError::Nested; 2]);
        assert_eq!(["[[]]", "a [[ \n]] b"].map(error), [BracketError::Empty; 2]);
    }
}
