//! The visitor's settings, and the question that they lead to.

use crate::explanation::{METHODS, Sampling, SentenceRule, Unit};
use crate::problem::Problem;
use crate::request::{EarlierAnswers, Question, Reading, ThinkingSupport};
use glasscage_message::message;

/// The settings as typed. An invalid field keeps its last valid number and is listed in `refused`.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub max_tokens: usize,
    /// Whether the model should think before it answers, if it can.
    pub thinks: bool,
    /// Maximum length of the thinking section, in tokens.
    pub max_thought: usize,
    /// Maximum length of prompt and answer, in tokens. `None` for the context length of the model.
    pub max_context: Option<usize>,
    pub temperature: f64,
    pub top_k: Option<usize>,
    pub top_p: Option<f64>,
    pub seed: u64,
    pub use_template: bool,
    /// The id of the method.
    pub method: &'static str,
    pub unit: Unit,
    /// Fields that contain invalid numbers.
    pub refused: Vec<RefusedNumber>,
}

/// A field whose text is not a valid number.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedNumber {
    pub label: &'static str,
    pub matters: Matters,
    /// The valid values: "a whole number from 1 to 4,096".
    pub allowed: String,
}

/// When a setting has an effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matters {
    #[default]
    Always,
    IfSampled,
    IfModelThinks,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_tokens: Self::MAX_TOKENS,
            thinks: false,
            max_thought: Self::MAX_THOUGHT,
            max_context: None,
            temperature: 0.0,
            top_k: None,
            top_p: None,
            seed: 0,
            use_template: true,
            method: METHODS[0].id,
            unit: Unit::Sentence,
            refused: Vec::new(),
        }
    }
}

impl Settings {
    /// Default maximum length of an answer, in tokens.
    pub const MAX_TOKENS: usize = 256;
    /// Default maximum length of the thinking section, in tokens.
    pub const MAX_THOUGHT: usize = 512;

    /// The question to a model with this thinking support. If `answer` is blank, the model writes an answer.
    pub fn question(&self, prompt: &str, answer: &str, thinking: ThinkingSupport) -> Question {
        Question {
            prompt: prompt.to_owned(),
            reading: Reading::Text,
            earlier_answers: EarlierAnswers::Given,
            answer: (!answer.trim().is_empty()).then(|| answer.to_owned()),
            use_template: self.use_template,
            sampling: self.sampling(),
            branches: Vec::new(),
            max_tokens: self.max_tokens,
            thinking: self.thinks(thinking).then_some(self.max_thought),
            max_context: self.max_context,
            method: self.method.into(),
            unit: self.unit,
            sentence_rule: SentenceRule::AnyScript,
            language: None,
        }
    }

    /// Whether a model with this thinking support will think.
    pub fn thinks(&self, thinking: ThinkingSupport) -> bool {
        match thinking {
            ThinkingSupport::Always => true,
            ThinkingSupport::Chosen => self.thinks,
            ThinkingSupport::Never => false,
        }
    }

    /// The problem with these settings for a model with this thinking support, if they are invalid.
    pub fn problem(&self, thinking: ThinkingSupport) -> Option<Problem> {
        let counts = |refused: &&RefusedNumber| match refused.matters {
            Matters::Always => true,
            Matters::IfSampled => self.temperature > 0.0,
            Matters::IfModelThinks => self.thinks(thinking),
        };
        let RefusedNumber { label, allowed, .. } = self.refused.iter().find(counts)?;
        Some(Problem::new(
            message!("The value of \u{201c}{label}\u{201d} is not valid", label),
            message!("Enter {allowed}, or leave the field empty", allowed),
        ))
    }

    /// Greedy at temperature 0. The other settings then have no effect and are not sent.
    pub fn sampling(&self) -> Sampling {
        match self.temperature > 0.0 {
            true => Sampling { temperature: self.temperature, top_k: self.top_k, top_p: self.top_p, seed: self.seed },
            false => Sampling::GREEDY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_answer_lets_the_model_write() {
        let settings = Settings::default();
        assert_eq!(settings.question("Why?", " \n", ThinkingSupport::Never).answer, None);
        assert_eq!(settings.question("Why?", "So.", ThinkingSupport::Never).answer.as_deref(), Some("So."));
    }

    #[test]
    fn greedy_questions_carry_no_leftover_of_sampling() {
        let settings = Settings { top_k: Some(5), seed: 7, ..Settings::default() };
        assert_eq!(settings.question("Why?", "", ThinkingSupport::Never).sampling, Sampling::GREEDY);
        let warm = Settings { temperature: 0.7, ..settings };
        assert_eq!(
            warm.question("Why?", "", ThinkingSupport::Never).sampling,
            Sampling { temperature: 0.7, top_k: Some(5), top_p: None, seed: 7 }
        );
    }

    #[test]
    fn the_longest_thought_is_sent_where_the_model_will_think() {
        let of = |settings: &Settings, thinking| settings.question("Why?", "", thinking).thinking;
        let all = [ThinkingSupport::Never, ThinkingSupport::Chosen, ThinkingSupport::Always];
        let settings = Settings::default();
        assert_eq!(all.map(|thinking| of(&settings, thinking)), [None, None, Some(512)]);
        let thinks = Settings { thinks: true, max_thought: 99, ..settings };
        assert_eq!(all.map(|thinking| of(&thinks, thinking)), [None, Some(99), Some(99)]);
    }

    #[test]
    fn unusable_parts_are_named() {
        let refused = |matters| vec![RefusedNumber { label: "Top-k", matters, allowed: "a whole number from 1 to 1,000".into() }];
        let greedy = Settings { refused: refused(Matters::IfSampled), ..Settings::default() };
        assert_eq!(greedy.problem(ThinkingSupport::Always), None);
        let problem = Settings { temperature: 1.0, ..greedy }.problem(ThinkingSupport::Never).unwrap().to_string();
        assert!(problem.contains("Top-k") && problem.contains("1 to 1,000"), "{problem}");
        let of_thinking = Settings { refused: refused(Matters::IfModelThinks), ..Settings::default() };
        assert_eq!([ThinkingSupport::Never, ThinkingSupport::Chosen].map(|thinking| of_thinking.problem(thinking)), [None, None]);
        assert!(of_thinking.problem(ThinkingSupport::Always).is_some());
    }
}
