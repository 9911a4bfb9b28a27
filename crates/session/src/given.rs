//! Cleans the texts of a question, because people paste them.

use glasscage_protocol::request::Question;
use glasscage_text::given::given_text;

/// The question with its prompt and its given answer cleaned by [`given_text`].
pub fn with_given_texts(question: Question) -> Question {
    Question { prompt: given_text(&question.prompt), answer: question.answer.as_deref().map(given_text), ..question }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_line_ends_of_other_programs_are_removed() {
        let pasted = Question { answer: Some("\u{feff}So 3.\r".into()), ..Question::greedy("\u{feff}Tom has 5.\r\nHe eats 2.\u{200b}") };
        let given = Question { answer: Some("So 3.\n".into()), ..Question::greedy("Tom has 5.\nHe eats 2.\u{200b}") };
        assert_eq!(with_given_texts(pasted), given);
    }
}
