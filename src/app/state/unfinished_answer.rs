//! An answer that was stopped or failed before it was explained.

use crate::request::Question;

/// A partial answer and its question. The same question gives the same words again, so others can recompute the results.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedAnswer {
    pub question: Question,
    pub text: String,
    /// Tokens of the text.
    pub tokens: usize,
}

impl UnfinishedAnswer {
    /// The question with its token limits reduced to the tokens of this answer.
    pub fn up_to_here(self) -> Question {
        // The thinking section and the answer have separate limits. Their sum is the number of tokens written.
        let thinking = self.question.thinking.map(|most| most.min(self.tokens));
        Question { max_tokens: self.tokens - thinking.unwrap_or(0), thinking, ..self.question }
    }
}
