//! The error type that a visitor reads.

use std::fmt;

use glasscage_message::Message;
use serde::{Deserialize, Serialize};

/// A problem: what happened, and what to do next. Each is shown as one or more sentences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    pub what: Message,
    pub remedy: Message,
    /// Whether the chat template caused the problem, so that the page offers to continue without it.
    pub is_of_template: bool,
}

impl Problem {
    pub fn new(what: Message, remedy: Message) -> Self {
        Self { what, remedy, is_of_template: false }
    }
}

/// In English.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.what.to_sentence(), self.remedy.to_sentence())
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;
    use glasscage_message::message;

    #[test]
    fn a_problem_reads_as_sentences() {
        let problem = Problem::new(message!("the file ends early"), message!("Download it again"));
        assert_eq!(problem.to_string(), "The file ends early. Download it again.");
    }
}
