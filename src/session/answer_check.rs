//! Whether an answer is to be trusted, where the model's file says how to tell: two logistic classifiers over [`signs`]. Their weights
//! are in the file (`glasscage.answer_check`), fitted by `training/calibrate.py` on problems that the model was not trained on.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::Deserialize;

use super::loaded::Session;
use super::problems;
use super::signs::{AnswerEvidence, Signs, signs};
use super::text::{FramedPrompt, TokenizedAnswer};
use crate::explanation::AnswerWarning;
use crate::lm::{LanguageModel, ScoreRequest};
use crate::model::gguf::Metadata;
use crate::problem::Problem;

/// What a model's file says of its mistakes.
#[derive(Clone, Debug, Deserialize)]
pub struct AnswerCheck {
    doubtful: Classifier,
    out_of_scope: Classifier,
}

/// Says yes where bias and weighted signs add up to more than 0.
#[derive(Clone, Debug, Deserialize)]
struct Classifier {
    bias: f64,
    weights: BTreeMap<String, f64>,
}

impl Classifier {
    fn applies(&self, signs: &Signs) -> bool {
        self.bias + self.weights.iter().map(|(name, weight)| weight * signs.get(name.as_str()).unwrap_or(&0.0)).sum::<f64>() > 0.0
    }
}

impl AnswerCheck {
    /// Nothing where the file has none, or one that cannot be read: it only adds a warning.
    pub fn from_metadata(metadata: &Metadata) -> Option<Self> {
        serde_json::from_str(metadata.str("glasscage.answer_check")?).ok()
    }

    fn warning(&self, signs: &Signs) -> Option<AnswerWarning> {
        if self.out_of_scope.applies(signs) {
            Some(AnswerWarning::OutOfScope)
        } else if self.doubtful.applies(signs) {
            Some(AnswerWarning::Doubtful)
        } else {
            None
        }
    }
}

impl<M: LanguageModel> Session<M> {
    /// The signs of mistakes in the model's greedy answer to `prompt`, from which the check's weights are fitted.
    pub async fn answer_signs(&mut self, prompt: &str, answer: &str) -> Result<Signs, Problem> {
        let framed =
            FramedPrompt::new(prompt, self.template.as_ref(), &self.tokenizer).map_err(|error| problems::template_failed(&error))?;
        let answer = TokenizedAnswer::from_text(answer, &framed.ids, &self.tokenizer);
        self.signs(prompt, &framed, &answer).await
    }

    /// What the model's own check says of the answer just generated; nothing where it has none. Takes one pass over the text, the first
    /// time.
    pub(super) async fn warning(
        &mut self,
        prompt: &str,
        framed: &FramedPrompt,
        answer: &TokenizedAnswer,
    ) -> Result<Option<AnswerWarning>, Problem> {
        let Some(check) = self.answer_check.clone().filter(|_| !answer.ids.is_empty()) else { return Ok(None) };
        if let Some(warning) = self.last_answer.as_ref().and_then(|last| last.warning) {
            return Ok(warning);
        }
        let warning = check.warning(&self.signs(prompt, framed, answer).await?);
        if let Some(last) = &mut self.last_answer {
            last.warning = Some(warning);
        }
        Ok(warning)
    }

    /// The signs of mistakes in an answer.
    async fn signs(&mut self, prompt: &str, framed: &FramedPrompt, answer: &TokenizedAnswer) -> Result<Signs, Problem> {
        let tokens = [&framed.ids[..], &answer.ids].concat();
        let mut log_probs = Vec::new();
        let request = ScoreRequest::new(&tokens, 1..tokens.len(), &[]);
        let score = self.lm.score(&request, async |_, readout| {
            log_probs.clone_from(&readout.log_probs);
            ControlFlow::Break(())
        });
        score.await.map_err(problems::engine_failed)?;
        let of_prompt = framed.prompt_positions();
        let word_tokens = |word: &str| self.tokenizer.encode(&format!(" {word}")).len();
        Ok(signs(&AnswerEvidence {
            prompt,
            answer: &answer.text,
            prompt_log_probs: &log_probs[of_prompt.start.max(1) - 1..of_prompt.end - 1],
            answer_log_probs: &log_probs[framed.ids.len() - 1..],
            word_tokens: &word_tokens,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_out_of_scope_is_said_before_a_doubtful_answer() {
        let check: AnswerCheck = serde_json::from_str(
            r#"{"doubtful": {"bias": -1, "weights": {"a": 2}}, "out_of_scope": {"bias": -1, "weights": {"b": 2, "unheard of": 9}}}"#,
        )
        .unwrap();
        let warning = |a: f64, b: f64| check.warning(&Signs::from([("a", a), ("b", b)]));
        assert_eq!(warning(0.0, 0.0), None);
        assert_eq!(warning(1.0, 0.0), Some(AnswerWarning::Doubtful));
        assert_eq!(warning(1.0, 1.0), Some(AnswerWarning::OutOfScope));
    }
}
