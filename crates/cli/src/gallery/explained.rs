//! Explains a question, and names the file of the explanation.

use std::ops::ControlFlow;

use glasscage_core::explanation::Document;
use glasscage_engine::Engine;
use glasscage_protocol::request::Question;
use glasscage_session::{ExplainResult, Session};

/// The explanation, with the probabilities of its tokens.
pub fn explained(session: &mut Session<Engine>, question: &Question) -> Result<Document, String> {
    let outcome = pollster::block_on(session.explain(question, &mut async |_| ControlFlow::Continue(())));
    match outcome.map_err(|problem| problem.to_string())? {
        ExplainResult::Explained(document) => Ok(*document),
        _ => Err(format!("not explained: {}", question.prompt)),
    }
}

/// Removes the probabilities of tokens, which would make the page's gallery several times as large.
pub fn without_tokens(document: Document) -> Document {
    Document { tokens: Vec::new(), ..document }.versioned()
}

/// Converts "Three facts, of nine" to "three-facts-of-nine".
pub fn slug(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_file_names() {
        assert_eq!(slug("Three facts, of nine"), "three-facts-of-nine");
    }
}
