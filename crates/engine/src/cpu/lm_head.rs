//! Reads predictions of the next tokens from hidden states, one tile of the vocabulary at a time, as on the GPU. So only one tile of
//! logits exists at a time.

use candle_core::{Result, Tensor};
use wide::f32x8;

use super::exponentials::largest;
use super::forward::Transformer;
use crate::lm::blocks::blocks;
use crate::lm::{N_TOP_TOKENS, RankedToken, Readout};
use glasscage_model::tokenizer::TokenId;

/// Tokens of the vocabulary in one tile.
const TILE: usize = 4096;
/// Groups of eight that are summed in f32. The sums of these blocks are added in f64.
const BLOCK: usize = 64;

/// `ln p` of `targets` in nats, from the hidden states that predict them (`[targets, dim]`). If `base` states are given, also the
/// divergence from their predictions: KL(base || these), in nats. If `ranks`, also the most likely tokens.
pub fn read_out(transformer: &Transformer, hidden: &Tensor, targets: &[TokenId], base: Option<&Tensor>, ranks: bool) -> Result<Readout> {
    let hidden = transformer.normalize_last(hidden)?;
    let base = base.map(|base| transformer.normalize_last(base)).transpose()?;
    let mut positions = vec![Position::default(); targets.len()];
    let vocab_size = transformer.config.vocab_size;
    for tile in blocks(0..vocab_size, TILE) {
        let logits = |states: &Tensor| transformer.logits(states, tile.clone())?.flatten_all()?.to_vec1::<f32>();
        let (own, base) = (logits(&hidden)?, base.as_ref().map(logits).transpose()?);
        for (i, position) in positions.iter_mut().enumerate() {
            let row = i * tile.len()..(i + 1) * tile.len();
            position.add(&own[row.clone()], base.as_ref().map(|base| &base[row.clone()]));
            if ranks {
                position.rank(tile.start, &own[row]);
            }
            if tile.contains(&(targets[i] as usize)) {
                position.target = own[i * tile.len() + targets[i] as usize - tile.start];
            }
        }
    }
    let divergences = if base.is_some() { positions.iter().map(Position::divergence).collect() } else { Vec::new() };
    let top_tokens = if ranks { positions.iter().map(Position::top_tokens).collect() } else { Vec::new() };
    Ok(Readout { log_probs: positions.iter().map(Position::log_prob).collect(), divergences, top_tokens, ..Readout::default() })
}

/// Running sums over the vocabulary for one position.
#[derive(Clone, Default)]
struct Position {
    own: LogSumExp,
    base: LogSumExp,
    /// The target's logit.
    target: f32,
    /// Sum of exp(b - base.largest) (b - logit), for the base text's logits b.
    weighted_difference: f64,
    /// Logits of the most likely tokens so far, with the tokens. The largest logit comes first, of equal logits the lowest token.
    top: Vec<(f32, TokenId)>,
}

impl Position {
    fn add(&mut self, own: &[f32], base: Option<&[f32]>) {
        self.own.add(own);
        if let Some(base) = base {
            self.weighted_difference =
                self.weighted_difference * self.base.add(base) + sum_weighted_differences(base, own, self.base.largest);
        }
    }

    /// Updates the most likely tokens with the logits from token `first` on.
    fn rank(&mut self, first: usize, logits: &[f32]) {
        for (b, block) in logits.chunks(8 * BLOCK).enumerate() {
            let is_short = self.top.len() < N_TOP_TOKENS;
            let least = self.top.last().map_or(f32::NEG_INFINITY, |last| last.0);
            if !is_short && largest(block) <= least {
                continue;
            }
            for (i, &logit) in block.iter().enumerate().filter(|(_, logit)| logit.is_finite()) {
                let at = self.top.partition_point(|&(other, _)| other >= logit);
                if at < N_TOP_TOKENS {
                    self.top.truncate(N_TOP_TOKENS - 1);
                    self.top.insert(at, (logit, (first + 8 * BLOCK * b + i) as TokenId));
                }
            }
        }
    }

    fn log_prob(&self) -> f64 {
        f64::from(self.target) - self.own.ln()
    }

    fn top_tokens(&self) -> Vec<RankedToken> {
        let sum = self.own.ln();
        self.top.iter().map(|&(logit, token)| RankedToken { token, log_prob: f64::from(logit) - sum }).collect()
    }

    fn divergence(&self) -> f64 {
        self.weighted_difference / self.base.sum + self.own.ln() - self.base.ln()
    }
}

/// Log-sum-exp of the logits so far.
#[derive(Clone)]
struct LogSumExp {
    largest: f32,
    /// Sum of exp(logit - largest).
    sum: f64,
}

impl Default for LogSumExp {
    fn default() -> Self {
        Self { largest: f32::NEG_INFINITY, sum: 0.0 }
    }
}

impl LogSumExp {
    /// Adds logits. Returns the factor that rescales earlier sums to the new largest logit.
    fn add(&mut self, logits: &[f32]) -> f64 {
        let largest = self.largest.max(largest(logits));
        let shrunk = f64::from(self.largest - largest).exp();
        self.sum = self.sum * shrunk + sum_exp(logits, largest);
        self.largest = largest;
        shrunk
    }

    fn ln(&self) -> f64 {
        f64::from(self.largest) + self.sum.ln()
    }
}

/// Sum of exp(logit - largest).
fn sum_exp(logits: &[f32], largest: f32) -> f64 {
    let (eights, rest) = logits.as_chunks();
    let block = |block: &[[f32; 8]]| f64::from(block.iter().map(|&eight| (f32x8::new(eight) - largest).exp()).sum::<f32x8>().reduce_add());
    let rest = rest.iter().map(|&logit| f64::from(logit - largest).exp());
    eights.chunks(BLOCK).map(block).chain(rest).sum()
}

/// Sum of exp(b - largest) (b - logit), for each b of `base` and its `logit`.
fn sum_weighted_differences(base: &[f32], logits: &[f32], largest: f32) -> f64 {
    let (base_eights, base_rest) = base.as_chunks();
    let (eights, rest) = logits.as_chunks();
    let weighted_difference = |(&base, &logits): (&[f32; 8], &[f32; 8])| {
        let base = f32x8::new(base);
        (base - largest).exp() * (base - f32x8::new(logits))
    };
    let block = |(base, logits): (&[[f32; 8]], &[[f32; 8]])| {
        f64::from(base.iter().zip(logits).map(weighted_difference).sum::<f32x8>().reduce_add())
    };
    let rest = base_rest.iter().zip(rest).map(|(&b, &logit)| f64::from(b - largest).exp() * f64::from(b - logit));
    base_eights.chunks(BLOCK).zip(eights.chunks(BLOCK)).map(block).chain(rest).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logits(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|i| ((i * 37 + seed * 101) % 211) as f32 / 9.0 - 12.0).collect()
    }

    fn log_softmax(logits: &[f32]) -> Vec<f64> {
        let sum: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
        logits.iter().map(|&logit| f64::from(logit) - sum.ln()).collect()
    }

    #[test]
    fn sums_over_tiles_match_whole_vocabulary() {
        for n in [1, 7, 8, 9, 4095, 9001] {
            let (own, base) = (logits(n, 1), logits(n, 2));
            let mut position = Position { target: own[n / 2], ..Position::default() };
            for (own, base) in own.chunks(1000).zip(base.chunks(1000)) {
                position.add(own, Some(base));
            }
            let (q, p) = (log_softmax(&own), log_softmax(&base));
            let divergence: f64 = p.iter().zip(&q).map(|(p, q)| p.exp() * (p - q)).sum();
            assert!((position.log_prob() - q[n / 2]).abs() < 1e-6, "{n}");
            assert!((position.divergence() - divergence).abs() < 1e-5, "{n}: {} {divergence}", position.divergence());
        }
    }

    #[test]
    fn most_likely_tokens_match_sorted_vocabulary() {
        for n in [1, 5, 6, 7, 511, 512, 513, 9001] {
            // Many logits are equal.
            let mut logits = logits(n, 3);
            logits[n / 3] = f32::NEG_INFINITY;
            let mut position = Position::default();
            for (i, tile) in logits.chunks(1000).enumerate() {
                position.add(tile, None);
                position.rank(1000 * i, tile);
            }
            let mut order: Vec<usize> = (0..n).filter(|&token| logits[token].is_finite()).collect();
            order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]).then(a.cmp(&b)));
            order.truncate(N_TOP_TOKENS);
            let (found, expected) = (position.top_tokens(), log_softmax(&logits));
            assert_eq!(found.iter().map(|ranked| ranked.token as usize).collect::<Vec<_>>(), order, "{n}");
            assert!(found.iter().zip(order).all(|(ranked, token)| (ranked.log_prob - expected[token]).abs() < 1e-6), "{n}");
        }
    }

    #[test]
    fn nan_is_reported() {
        let mut position = Position::default();
        position.add(&[1.0, f32::NAN, 2.0], None);
        assert!(position.log_prob().is_nan());
        let mut position = Position::default();
        position.add(&[1.0, f32::NEG_INFINITY, 2.0], Some(&[1.0, f32::NEG_INFINITY, 2.0]));
        assert!(position.divergence().is_nan());
    }
}
