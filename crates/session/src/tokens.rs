//! The generated tokens of a document: their probabilities and alternatives.

use std::ops::Range;

use glasscage_attribution::{Segments, Transcript};
use glasscage_core::explanation::{Alternative, MAX_ALTERNATIVES, Token};
use glasscage_engine::lm::RankedToken;
use glasscage_model::tokenizer::{TokenId, Tokenizer};

/// Predictions of the generated tokens in the unchanged text.
pub struct Predictions<'a> {
    /// ln p of each generated token, in nats.
    pub log_probs: &'a [f64],
    /// The most likely tokens at each generated token, the most likely first.
    pub top_tokens: &'a [Vec<RankedToken>],
}

/// The tokens of all generated sentences. `spans` are the bytes of `text`, the generation, that each generated token covers.
pub fn tokens(
    text: &str,
    spans: &[Range<usize>],
    transcript: &Transcript,
    segments: &Segments,
    predictions: &Predictions<'_>,
    tokenizer: &Tokenizer,
) -> Vec<Token> {
    let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
    let mut reached = [0, 0];
    let token = |position: usize| {
        let t = position - transcript.generation.start;
        reached = code_points(&starts, &spans[t], reached);
        let (id, log_probability) = (transcript.tokens[position], rounded(predictions.log_probs[t]));
        Token { span: reached, log_probability, alternatives: alternatives(id, &predictions.top_tokens[t], tokenizer) }
    };
    segments.generation.iter().cloned().flatten().map(token).collect()
}

/// The code points of which a token covers a part, where `starts` are the bytes at which code points start. `reached` is the span of the
/// previous token; spans never go back. A token that covers no text comes right after the previous one.
fn code_points(starts: &[usize], bytes: &Range<usize>, reached: [usize; 2]) -> [usize; 2] {
    if bytes.is_empty() {
        return [reached[1]; 2];
    }
    let first = starts.partition_point(|&start| start <= bytes.start).saturating_sub(1);
    let end = starts.partition_point(|&start| start < bytes.end);
    [first.max(reached[0]), end.max(reached[1])]
}

fn alternatives(id: TokenId, top_tokens: &[RankedToken], tokenizer: &Tokenizer) -> Vec<Alternative> {
    let alternative = |ranked: &RankedToken| Alternative { text: tokenizer.name(ranked.token), log_probability: rounded(ranked.log_prob) };
    others(id, top_tokens).map(alternative).collect()
}

/// The alternatives of the token `id` among the most likely tokens in its place, the most likely first.
pub fn others(id: TokenId, top_tokens: &[RankedToken]) -> impl Iterator<Item = &RankedToken> {
    top_tokens.iter().filter(move |ranked| ranked.token != id).take(MAX_ALTERNATIVES)
}

/// A log-probability of six decimals, at most 0. Engines compute less precisely.
fn rounded(log_prob: f64) -> f64 {
    // Adding 0 turns -0 into 0.
    ((log_prob * 1e6).round() / 1e6).min(0.0) + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_count_code_points_and_never_go_back() {
        // "Z\u{eb}!" has four bytes. Two tokens share the second character; two tokens cover nothing.
        let (starts, mut reached) = ([0, 1, 3], [0, 0]);
        let spans = [0..0, 0..1, 1..2, 2..3, 0..0, 3..4].map(|bytes| {
            reached = code_points(&starts, &bytes, reached);
            reached
        });
        assert_eq!(spans, [[0, 0], [0, 1], [1, 2], [1, 2], [2, 2], [2, 3]]);
    }

    #[test]
    fn rounded_log_probability_is_at_most_zero() {
        assert_eq!([-0.123_456_78, 5e-4, -1e-9].map(rounded), [-0.123_457, 0.0, 0.0]);
        assert!(rounded(-1e-9).is_sign_positive());
    }
}
