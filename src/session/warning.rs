//! What a model's own check says of an answer.

use super::loaded::Session;
use super::problems;
use super::signs::{AnswerEvidence, Signs, signs};
use super::text::{FramedPrompt, TokenizedAnswer};
use crate::explanation::AnswerWarning;
use crate::lm::{LanguageModel, ScoreRequest, score_base};
use crate::problem::Problem;

impl<M: LanguageModel> Session<M> {
    /// The signs of mistakes in the model's greedy answer to `prompt`, from which the check's weights are fitted.
    pub async fn answer_signs(&mut self, prompt: &str, answer: &str) -> Result<Signs, Problem> {
        let context_length = self.lm.config().context_length;
        let framed = FramedPrompt::new(prompt, self.template.as_ref(), &self.tokenizer, context_length);
        let framed = framed.map_err(|error| problems::framing_failed(&error, context_length))?;
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
        let request = ScoreRequest::new(&tokens, 1..tokens.len(), &[]);
        let log_probs = score_base(&mut self.lm, &request).await.map_err(problems::engine_failed)?.log_probs;
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
