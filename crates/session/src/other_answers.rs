//! How likely the model was to give another answer: it continues its answer from alternatives of its tokens, and the last sentences are
//! compared.

use std::ops::Range;

use super::loaded::Session;
use super::problems;
use super::text::{FramedPrompt, TokenizedAnswer};
use super::tokens::others;
use glasscage_engine::lm::{Callback, InfillRequest, LanguageModel, LmError, RankedToken};
use glasscage_model::tokenizer::TokenId;
use glasscage_protocol::problem::Problem;

/// Maximum number of alternatives that the model continues from.
const MAX_ALTERNATIVES: usize = 6;
/// Least probability of the answer's tokens up to an alternative and the alternative itself. Less likely ones are ignored.
const MIN_PROBABILITY: f64 = 0.02;
/// Maximum number of tokens of the answer that the continuations replace, all together.
const MAX_TOKENS: usize = 256;
/// Number of tokens by which a continuation may be longer than the rest of the answer.
const MARGIN: usize = 40;

/// A token of the answer at which the model could have gone another way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// 0-based index of the token in the answer.
    at: usize,
    /// Probability that the model writes the answer's tokens before it, and then its most likely other token.
    pub probability: f64,
}

/// The most likely departures from an answer, the most likely first. Takes the log-probability of each of its tokens, in nats, and the most
/// likely tokens in its place. The probabilities of all departures add up to at most 1, because no two happen in the same answer.
pub fn departures(ids: &[TokenId], log_probs: &[f64], top_tokens: &[Vec<RankedToken>]) -> Vec<Departure> {
    let mut before = 0.0;
    let mut departures = Vec::new();
    for (at, ((&id, log_prob), top_tokens)) in ids.iter().zip(log_probs).zip(top_tokens).enumerate() {
        let other = others(id, top_tokens).next();
        departures.extend(other.map(|other| Departure { at, probability: (before + other.log_prob).exp() }));
        before += log_prob;
    }
    departures.retain(|departure| departure.probability >= MIN_PROBABILITY);
    departures.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    departures.truncate(MAX_ALTERNATIVES);
    let mut tokens = 0;
    departures.retain(|departure| {
        tokens += ids.len() - departure.at;
        tokens <= MAX_TOKENS
    });
    departures
}

impl<M: LanguageModel> Session<M> {
    /// Total probability of the departures after which the model's most likely continuation ends with another sentence than the answer: an
    /// estimate of the probability of another answer. `None` if `on_step` cancels or the engine was stopped.
    pub(super) async fn probability_of_others(
        &mut self,
        framed: &FramedPrompt,
        answer: &TokenizedAnswer,
        departures: &[Departure],
        on_step: &mut dyn Callback<()>,
    ) -> Result<Option<f64>, Problem> {
        let tokens = [&framed.ids[..], &answer.ids].concat();
        let end = (tokens.len() + MARGIN).min(self.lm.config().context_length);
        let spans: Vec<Range<usize>> = departures.iter().map(|departure| framed.ids.len() + departure.at..end).collect();
        if spans.is_empty() {
            return Ok(Some(0.0));
        }
        let ends = self.tokenizer.ends();
        let request = InfillRequest { tokens: &tokens, spans: &spans, forbidden: &[], ends: &ends, start_token: tokens[0] };
        let continuations = match self.lm.infill(&request, on_step).await {
            Ok(Some(filled)) => filled,
            Ok(None) | Err(LmError::Stopped) => return Ok(None),
            Err(error) => return Err(problems::engine_failed(error)),
        };
        let said = last_sentence(&answer.text);
        let mut total = 0.0;
        for (departure, continuation) in departures.iter().zip(continuations) {
            // A continuation without an end has no last sentence.
            let Some((_, rest)) = continuation.split_last().filter(|(last, _)| ends.contains(last)) else { continue };
            let ids = [&answer.ids[..departure.at], rest].concat();
            if last_sentence(&self.tokenized(framed, ids).text) != said {
                total += departure.probability;
            }
        }
        Ok(Some(total))
    }
}

/// Words and numbers of the last sentence, in lower case.
fn last_sentence(text: &str) -> Vec<String> {
    let last = text.trim_end().rsplit(". ").next().unwrap_or_default();
    last.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(tokens: &[(TokenId, f64)]) -> Vec<RankedToken> {
        tokens.iter().map(|&(token, p)| RankedToken { token, log_prob: p.ln() }).collect()
    }

    #[test]
    fn departures_are_likely_and_few() {
        let (likely, sure) = (ranked(&[(7, 0.6), (8, 0.3), (9, 0.1)]), ranked(&[(7, 0.999), (8, 0.001)]));
        // The second token is not the most likely one there.
        let top_tokens = [likely.clone(), likely, sure];
        let found = departures(&[7, 8, 7], &[0.6_f64.ln(), 0.3_f64.ln(), 0.999_f64.ln()], &top_tokens);
        assert_eq!(found.iter().map(|departure| departure.at).collect::<Vec<_>>(), [1, 0]);
        assert!((found[0].probability - 0.6 * 0.6).abs() < 1e-12 && (found[1].probability - 0.3).abs() < 1e-12);
        let unsure = vec![ranked(&[(7, 0.9), (8, 0.1)]); 20];
        assert_eq!(departures(&[7; 20], &[0.9_f64.ln(); 20], &unsure).len(), MAX_ALTERNATIVES);
        // Each of the most likely departures is at the start of a long answer.
        let unsure = vec![ranked(&[(7, 0.9), (8, 0.1)]); 200];
        assert_eq!(departures(&[7; 200], &[0.9_f64.ln(); 200], &unsure).len(), 1);
    }

    #[test]
    fn last_sentences_are_compared_by_words_and_numbers() {
        for text in ["So 3 + 4 = 7. The answer is $7.", "The answer is 7", "x. the answer is **7**. "] {
            assert_eq!(last_sentence(text), ["the", "answer", "is", "7"], "{text}");
        }
        assert!(last_sentence("").is_empty());
    }
}
