//! An answer that was stopped, or broke off, before it was explained.

use crate::request::Question;

/// What the model had written, and the question that it answers. The same question gives the same words again, so that whatever comes of
/// it can be recomputed by others.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedAnswer {
    pub question: Question,
    pub text: String,
    /// Tokens of the text.
    pub tokens: usize,
}

impl UnfinishedAnswer {
    /// The question whose answer ends where this one does.
    pub fn up_to_here(self) -> Question {
        // Thought and answer have their limits; together they allow what there is.
        let thinking = self.question.thinking.map(|most| most.min(self.tokens));
        Question { max_tokens: self.tokens - thinking.unwrap_or(0), thinking, ..self.question }
    }
}
