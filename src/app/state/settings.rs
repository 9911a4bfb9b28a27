//! How an answer is made: what the visitor set, and the question that follows from it.

use crate::explanation::{METHODS, Sampling, Unit};
use crate::request::Question;

/// The settings as typed; a field that is no number keeps its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub max_tokens: usize,
    /// The longest text, in tokens; `None` for as long as the model can read.
    pub max_context: Option<usize>,
    pub temperature: f64,
    pub top_k: Option<usize>,
    pub top_p: Option<f64>,
    pub seed: u64,
    pub use_template: bool,
    /// The id of the method.
    pub method: &'static str,
    pub unit: Unit,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_tokens: 256,
            max_context: None,
            temperature: 0.0,
            top_k: None,
            top_p: None,
            seed: 0,
            use_template: true,
            method: METHODS[0].id,
            unit: Unit::Sentence,
        }
    }
}

impl Settings {
    /// The question to the engine; a blank answer means that the model writes its own.
    pub fn question(&self, prompt: &str, answer: &str) -> Question {
        Question {
            prompt: prompt.to_owned(),
            answer: (!answer.trim().is_empty()).then(|| answer.to_owned()),
            use_template: self.use_template,
            sampling: self.sampling(),
            max_tokens: self.max_tokens,
            max_context: self.max_context,
            method: self.method.into(),
            unit: self.unit,
        }
    }

    /// Greedy at temperature 0; then the rest has no effect and is not sent.
    pub fn sampling(&self) -> Sampling {
        match self.temperature > 0.0 {
            true => Sampling { temperature: self.temperature, top_k: self.top_k, top_p: self.top_p, seed: self.seed },
            false => Sampling::GREEDY,
        }
    }
}

/// A number typed into a field, if it is one within `range`.
pub fn parsed<T: std::str::FromStr + PartialOrd>(text: &str, range: std::ops::RangeInclusive<T>) -> Option<T> {
    text.trim().parse().ok().filter(|number| range.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_answer_lets_the_model_write() {
        let settings = Settings::default();
        assert_eq!(settings.question("Why?", " \n").answer, None);
        assert_eq!(settings.question("Why?", "So.").answer.as_deref(), Some("So."));
    }

    #[test]
    fn greedy_questions_carry_no_leftover_of_sampling() {
        let settings = Settings { top_k: Some(5), seed: 7, ..Settings::default() };
        assert_eq!(settings.question("Why?", "").sampling, Sampling::GREEDY);
        let warm = Settings { temperature: 0.7, ..settings };
        assert_eq!(warm.question("Why?", "").sampling, Sampling { temperature: 0.7, top_k: Some(5), top_p: None, seed: 7 });
    }

    #[test]
    fn numbers_out_of_range_are_not_taken() {
        assert_eq!(parsed(" 64 ", 1..=4096), Some(64));
        assert_eq!(parsed("0", 1..=4096), None);
        assert_eq!(parsed::<f64>("NaN", 0.0..=2.0), None);
    }
}
