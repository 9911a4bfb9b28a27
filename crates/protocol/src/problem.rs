//! The error type that a visitor reads.

use serde::{Deserialize, Serialize};

/// A problem in two plain sentences: what happened, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what} {remedy}")]
pub struct Problem {
    pub what: String,
    pub remedy: String,
}

impl Problem {
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: sentence(&shortened(what.into())), remedy: sentence(&shortened(remedy.into())) }
    }
}

impl Problem {
    /// Whether the chat template caused the problem, so that the page offers to continue without it.
    pub fn is_of_template(&self) -> bool {
        self.remedy.contains("urn the chat template off")
    }
}

/// Number of characters kept at the start and at the end of a long text. A problem may quote text of any length from a file.
const KEPT: [usize; 2] = [360, 120];

/// Removes the middle of a text that is too long to read.
fn shortened(text: String) -> String {
    let boundary = |n_chars: usize| text.char_indices().nth(n_chars).map(|(byte, _)| byte);
    let [start, end] = KEPT;
    let (Some(start), Some(_)) = (boundary(start), boundary(start + end)) else { return text };
    let end = text.char_indices().rev().nth(end - 1).map_or(text.len(), |(byte, _)| byte);
    format!("{} \u{2026} {}", &text[..start], &text[end..])
}

/// Makes a full sentence of an error text: capitalizes it and adds a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let rest = chars.as_str();
    let is_chinese = rest.ends_with(|c| matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{ff09}'));
    let has_stop = rest.ends_with(['.', '!', '?', '\u{3002}', '\u{ff01}', '\u{ff1f}']);
    let stop = match (has_stop, is_chinese) {
        (true, _) => "",
        (false, true) => "\u{3002}",
        (false, false) => ".",
    };
    format!("{}{rest}{stop}", first.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_problem_text_loses_its_middle() {
        let name = "\u{e9}\u{1f600}".repeat(50_000);
        let problem = Problem::new(format!("the model has no tensor {name} that can be used"), "Choose another model file.");
        assert!(problem.what.starts_with("The model has no tensor \u{e9}") && problem.what.ends_with(" that can be used."));
        assert_eq!(problem.what.chars().count(), 360 + 3 + 120 + 1);
        let longest = "a".repeat(480);
        assert_eq!(Problem::new(longest.clone(), "").what, format!("A{}.", &longest[1..]));
    }

    #[test]
    fn a_chinese_sentence_has_a_chinese_stop() {
        let what = "\u{5f15}\u{64ce}\u{5df2}\u{505c}\u{6b62}";
        assert_eq!(Problem::new(what, "").what, format!("{what}\u{3002}"));
    }

    #[test]
    fn a_problem_reads_as_sentences() {
        let problem = Problem::new("the file ends early", "Download it again.");
        assert_eq!(problem.to_string(), "The file ends early. Download it again.");
    }
}
