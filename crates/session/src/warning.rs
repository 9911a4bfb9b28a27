//! Runs the answer classifier on an answer.

use std::ops::ControlFlow;

use super::answer_features::{AnswerEvidence, AnswerFeatures, OTHER_ANSWERS, features};
use super::loaded::Session;
use super::other_answers::{Departure, departures};
use super::problems;
use super::prompt::ReadPrompt;
use super::text::{FramedPrompt, TokenizedAnswer};
use glasscage_core::explanation::AnswerWarning;
use glasscage_engine::lm::{Callback, LanguageModel, LmError, ScoreRequest, score_base};
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
        let stopped = || problems::engine_failed(LmError::Stopped);
        let (mut features, departures) = self.features(prompt, &framed, &answer).await?.ok_or_else(stopped)?;
        let others = self.probability_of_others(&framed, &answer, &departures, &mut async |()| ControlFlow::Continue(())).await?;
        features.insert(OTHER_ANSWERS, others.ok_or_else(stopped)?);
        Ok(features)
    }

    /// The answer classifier's warning about the answer that was just generated, or `None` if there is none or no classifier. Breaks if
    /// `on_step` cancels or the engine was stopped. The first time, it takes one pass over the text, and continues the answer from some of
    /// its alternatives, unless the other features already decide.
    pub(super) async fn warning(
        &mut self,
        prompt: &str,
        framed: &FramedPrompt,
        answer: &TokenizedAnswer,
        on_step: &mut dyn Callback<()>,
    ) -> Result<ControlFlow<(), Option<AnswerWarning>>, Problem> {
        let Some(check) = self.answer_check.clone().filter(|_| !answer.ids.is_empty()) else {
            return Ok(ControlFlow::Continue(None));
        };
        if let Some(warning) = self.answers.last().and_then(|last| last.warning) {
            return Ok(ControlFlow::Continue(warning));
        }
        let Some((mut features, departures)) = self.features(prompt, framed, answer).await? else {
            return Ok(ControlFlow::Break(()));
        };
        let mut warning = check.warning(&features);
        features.insert(OTHER_ANSWERS, departures.iter().map(|departure| departure.probability).sum());
        if check.warning(&features) != warning {
            let Some(others) = self.probability_of_others(framed, answer, &departures, on_step).await? else {
                return Ok(ControlFlow::Break(()));
            };
            features.insert(OTHER_ANSWERS, others);
            warning = check.warning(&features);
        }
        if let Some(last) = self.answers.last_mut() {
            last.warning = Some(warning);
        }
        Ok(ControlFlow::Continue(warning))
    }

    /// The features of an answer, except [`OTHER_ANSWERS`], and the departures that this one is computed from. `None` if the engine was
    /// stopped.
    async fn features(
        &mut self,
        prompt: &str,
        framed: &FramedPrompt,
        answer: &TokenizedAnswer,
    ) -> Result<Option<(AnswerFeatures, Vec<Departure>)>, Problem> {
        let tokens = [&framed.ids[..], &answer.ids].concat();
        let request = ScoreRequest { top_tokens: true, ..ScoreRequest::new(&tokens, 1..tokens.len(), &[]) };
        let mut base = match score_base(&mut self.lm, &request).await {
            Err(LmError::Stopped) => return Ok(None),
            base => base.map_err(problems::engine_failed)?,
        };
        // The first token of a text has no log-probability.
        let of_prompt = framed.positions_of_parts().flat_map(|part| part.start.max(1)..part.end).map(|token| base.log_probs[token - 1]);
        let of_prompt: Vec<f64> = of_prompt.collect();
        let start = framed.ids.len() - 1;
        let (log_probs, top_tokens) = (base.log_probs.split_off(start), base.top_tokens.split_off(start));
        let word_tokens = |word: &str| self.tokenizer.encode(&format!(" {word}")).len();
        let features = features(&AnswerEvidence {
            prompt,
            answer: &answer.text,
            prompt_log_probs: &of_prompt,
            answer_log_probs: &log_probs,
            word_tokens: &word_tokens,
        });
        Ok(Some((features, departures(&answer.ids, &log_probs, &top_tokens))))
    }
}
