//! The one error a visitor reads.

use serde::{Deserialize, Serialize};

/// What happened, and what to do next: two plain sentences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what} {remedy}")]
pub struct Problem {
    pub what: String,
    pub remedy: String,
}

impl Problem {
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: sentence(what.into()), remedy: sentence(remedy.into()) }
    }
}

/// Error texts start small and end without a full stop; a visitor reads whole sentences.
fn sentence(text: String) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return text };
    let rest = chars.as_str();
    let stop = if rest.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{rest}{stop}", first.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_as_sentences() {
        let problem = Problem::new("the file ends early", "Download it again.");
        assert_eq!(problem.to_string(), "The file ends early. Download it again.");
    }
}
