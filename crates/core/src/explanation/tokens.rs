//! How likely the model found each generated token, and what it might have written in its place (`docs/reading-the-numbers.md`, How sure).

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Maximum number of alternatives of a token.
pub const MAX_ALTERNATIVES: usize = 5;
/// Maximum number of forks that are marked in an answer.
pub const MAX_FORKS: usize = 3;

/// A generated token.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Token {
    /// Half-open span of the generation in Unicode code points. Tokens that share a character all cover it. Empty if the token covers no
    /// text.
    pub span: [usize; 2],
    /// ln p of the token at temperature 1, in nats. At most 0.
    pub log_probability: f64,
    /// The most likely other tokens in its place, the most likely first: at most [`MAX_ALTERNATIVES`].
    pub alternatives: Vec<Alternative>,
}

/// Another token in the place of a generated one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    /// Text of the token. Bytes that are not UTF-8 are U+FFFD.
    pub text: String,
    /// ln p at temperature 1, in nats. At most 0.
    pub log_probability: f64,
}

impl Token {
    /// ln of the ratio p(runner-up) / p(token), in nats. Positive if another token was more likely. `None` without alternatives.
    pub fn rivalry(&self) -> Option<f64> {
        self.alternatives.first().map(|runner_up| runner_up.log_probability - self.log_probability)
    }

    /// Whether the runner-up has at least half the probability of the token.
    pub fn is_fork(&self) -> bool {
        self.rivalry().is_some_and(|rivalry| rivalry >= -std::f64::consts::LN_2)
    }
}

/// Reads tokens by way of a `Value`, because code derived for two more types would make the page larger.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Token>, D::Error> {
    list(&Value::deserialize(deserializer)?, token).ok_or_else(|| D::Error::custom("invalid tokens"))
}

/// The objects of an array. `None` if one of them is not as `item` reads it.
pub(super) fn list<T>(value: &Value, item: fn(&Map<String, Value>) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(|value| item(value.as_object()?)).collect()
}

/// A count or an index. `None` if it does not fit into a `usize`.
pub(super) fn place(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn token(fields: &Map<String, Value>) -> Option<Token> {
    // With exactly three fields, and the three that are read here, none is unknown.
    let fields = Some(fields).filter(|fields| fields.len() == 3)?;
    let [start, end] = &fields.get("span")?.as_array()?[..] else { return None };
    Some(Token {
        span: [place(start)?, place(end)?],
        log_probability: fields.get("log_probability")?.as_f64()?,
        alternatives: list(fields.get("alternatives")?, alternative)?,
    })
}

fn alternative(fields: &Map<String, Value>) -> Option<Alternative> {
    let fields = Some(fields).filter(|fields| fields.len() == 2)?;
    let text = fields.get("text")?.as_str()?.to_owned();
    Some(Alternative { text, log_probability: fields.get("log_probability")?.as_f64()? })
}

/// ln p of all tokens together, in nats: the sum of their log-probabilities.
pub fn total_log_probability(tokens: &[Token]) -> f64 {
    tokens.iter().map(|token| token.log_probability).sum()
}

/// Geometric mean of the tokens' probabilities: exp(total log-probability / number of tokens). `None` without tokens.
pub fn mean_probability(tokens: &[Token]) -> Option<f64> {
    (!tokens.is_empty()).then(|| (total_log_probability(tokens) / tokens.len() as f64).exp())
}

/// The forks among the tokens (0-based), the closest first: smallest |ln(p(runner-up) / p(token))|. Of equally close forks, the earlier one
/// comes first. The first [`MAX_FORKS`] are marked.
pub fn forks(tokens: &[Token]) -> Vec<usize> {
    let distance = |&t: &usize| tokens[t].rivalry().map_or(f64::INFINITY, f64::abs);
    let mut forks: Vec<usize> = (0..tokens.len()).filter(|&t| tokens[t].is_fork()).collect();
    forks.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    forks
}

/// Whether the spans are in order and inside a text of `n_chars` code points.
pub(super) fn are_in_order(tokens: &[Token], n_chars: usize) -> bool {
    let are_ascending = tokens.is_sorted_by(|a, b| a.span[0] <= b.span[0] && a.span[1] <= b.span[1]);
    are_ascending && tokens.iter().all(|Token { span: [start, end], .. }| start <= end && *end <= n_chars)
}

/// Whether no log-probability is above 0, and the alternatives of each token are few and in order.
pub(super) fn are_probabilities(tokens: &[Token]) -> bool {
    tokens.iter().all(|Token { log_probability, alternatives, .. }| {
        let are_descending = alternatives.is_sorted_by(|a, b| a.log_probability >= b.log_probability);
        let is_possible = alternatives.iter().all(|alternative| alternative.log_probability <= 0.0);
        *log_probability <= 0.0 && is_possible && are_descending && alternatives.len() <= MAX_ALTERNATIVES
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token with probability `p`, and alternatives with probabilities `others`.
    fn token(p: f64, others: &[f64]) -> Token {
        let alternatives = others.iter().map(|p| Alternative { text: "x".into(), log_probability: p.ln() });
        Token { span: [0, 1], log_probability: p.ln(), alternatives: alternatives.collect() }
    }

    #[test]
    fn sentence_has_total_and_geometric_mean() {
        let tokens = [token(0.5, &[]), token(0.125, &[]), token(1.0, &[])];
        assert!((total_log_probability(&tokens) - 0.0625_f64.ln()).abs() < 1e-12);
        assert!((mean_probability(&tokens).unwrap() - 0.0625_f64.cbrt()).abs() < 1e-12);
        assert_eq!((total_log_probability(&[]), mean_probability(&[])), (0.0, None));
    }

    #[test]
    fn fork_needs_runner_up_with_half_the_probability() {
        assert!(token(0.5, &[0.25, 0.1]).is_fork());
        assert!(!token(0.5, &[0.24]).is_fork());
        assert!(token(0.1, &[0.8]).is_fork(), "a sampled token that was not the most likely one");
        assert!(!token(0.5, &[]).is_fork());
    }

    #[test]
    fn closest_forks_come_first() {
        let tokens = [token(0.5, &[0.3]), token(0.9, &[0.1]), token(0.4, &[0.39]), token(0.1, &[0.8]), token(0.25, &[0.25])];
        assert_eq!(forks(&tokens), [4, 2, 0, 3]);
        assert_eq!(forks(&[token(0.4, &[0.4]), token(0.3, &[0.3])]), [0, 1], "the earlier of equally close ones");
        assert!(forks(&[]).is_empty());
    }
}
