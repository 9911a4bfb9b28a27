//! Runs the answer classifier on an answer.

use super::answer_features::{AnswerEvidence, AnswerFeatures, features};
use super::loaded::Session;
use super::problems;
use super::prompt::ReadPrompt;
use super::text::{FramedPrompt, TokenizedAnswer};
use glasscage_core::explanation::AnswerWarning;
use glasscage_engine::lm::{LanguageModel, LmError, ScoreRequest, score_base};
use glasscage_protocol::problem::Problem;
use glasscage_text::brackets::Bracketed;

impl<M: LanguageModel> Session<M> {
    /// The features of the model's greedy answer to `prompt`. The weights of the answer classifier are fitted to them.
    pub async fn answer_features(&mut self, prompt: &str, answer: &str) -> Result<AnswerFeatures, Problem> {
        let context_length = self.lm.config().context_length;
        let read = ReadPrompt::plain(Bracketed::plain(prompt));
        let framed = FramedPrompt::new(&read, self.template.as_ref(), &self.tokenizer, context_length, false);
        let framed = framed.map_err(|error| problems::framing_failed(&error, context_length))?;
        let answer = self.given_answer(answer, &framed);
        self.features(prompt, &framed, &answer).await?.ok_or_else(|| problems::engine_failed(LmError::Stopped))
    }

    /// The answer classifier's warning about the answer that was just generated. `None` if there is no warning or no classifier. Takes one
    /// pass over the text the first time.
    pub(super) async fn warning(
        &mut self,
        prompt: &str,
        framed: &FramedPrompt,
        answer: &TokenizedAnswer,
    ) -> Result<Option<AnswerWarning>, Problem> {
        let Some(check) = self.answer_check.clone().filter(|_| !answer.ids.is_empty()) else { return Ok(None) };
        if let Some(warning) = self.answers.last().and_then(|last| last.warning) {
            return Ok(warning);
        }
        let Some(features) = self.features(prompt, framed, answer).await? else { return Ok(None) };
        let warning = check.warning(&features);
        if let Some(last) = self.answers.last_mut() {
            last.warning = Some(warning);
        }
        Ok(warning)
    }

    /// The features of an answer. `None` if the engine was stopped.
    async fn features(&mut self, prompt: &str, framed: &FramedPrompt, answer: &TokenizedAnswer) -> Result<Option<AnswerFeatures>, Problem> {
        let tokens = [&framed.ids[..], &answer.ids].concat();
        let request = ScoreRequest::new(&tokens, 1..tokens.len(), &[]);
        let log_probs = match score_base(&mut self.lm, &request).await {
            Err(LmError::Stopped) => return Ok(None),
            base => base.map_err(problems::engine_failed)?.log_probs,
        };
        // The first token of a text has no log-probability.
        let of_prompt = framed.positions_of_parts().flat_map(|part| part.start.max(1)..part.end).map(|token| log_probs[token - 1]);
        let of_prompt: Vec<f64> = of_prompt.collect();
        let word_tokens = |word: &str| self.tokenizer.encode(&format!(" {word}")).len();
        Ok(Some(features(&AnswerEvidence {
            prompt,
            answer: &answer.text,
            prompt_log_probs: &of_prompt,
            answer_log_probs: &log_probs[framed.ids.len() - 1..],
            word_tokens: &word_tokens,
        })))
    }
}
