//! A masked language model of the RoBERTa family on candle: fills a gap of a text at once, from both sides.

use std::ops::Range;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::xlm_roberta::{Config, XLMRobertaForMaskedLM};
use tokenizers::Tokenizer;

use crate::model::tokenizer::TokenId;

/// A model and its tokenizer.
pub struct MaskedLm {
    model: XLMRobertaForMaskedLM,
    /// Of the vocabulary; candle's model leaves it out.
    bias: Option<Tensor>,
    tokenizer: Tokenizer,
    /// The token that stands for something to be filled in.
    mask: TokenId,
    /// Tokens that fill nothing.
    special: Vec<TokenId>,
    /// Tokens that it can read, with the one before and the one after the text.
    longest: usize,
}

/// Why a masked language model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MaskedLmError {
    #[error("config.json is not that of a RoBERTa model: {0}")]
    Config(String),
    #[error("tokenizer.json cannot be read: {0}")]
    Tokenizer(String),
    #[error("the tokenizer has no token <mask>, so this is no masked language model")]
    NoMask,
    #[error("model.safetensors is not the weights of this model: {0}")]
    Weights(String),
    #[error("the masked language model failed: {0}")]
    Engine(String),
}

impl MaskedLm {
    /// The three files as they are published: `config.json`, `tokenizer.json`, `model.safetensors`.
    pub fn load(config: &[u8], tokenizer: &[u8], weights: Vec<u8>) -> Result<Self, MaskedLmError> {
        let config = read_config(config)?;
        let tokenizer = Tokenizer::from_bytes(tokenizer).map_err(|error| MaskedLmError::Tokenizer(error.to_string()))?;
        let mask = tokenizer.token_to_id("<mask>").ok_or(MaskedLmError::NoMask)?;
        let special = tokenizer.get_added_tokens_decoder().into_iter().filter(|(_, token)| token.special).map(|(id, _)| id).collect();
        let failed = |error: candle_core::Error| MaskedLmError::Weights(first_line(&error));
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu).map_err(failed)?;
        let bias = weights.contains_tensor("lm_head.bias").then(|| weights.get(config.vocab_size, "lm_head.bias")).transpose();
        Ok(Self {
            bias: bias.map_err(failed)?,
            model: XLMRobertaForMaskedLM::new(&config, weights).map_err(failed)?,
            tokenizer,
            mask,
            special,
            // Positions count from after that of padding.
            longest: config.max_position_embeddings.saturating_sub(config.pad_token_id as usize + 1),
        })
    }

    /// What it would say in `text[gap]` instead: each of the gap's tokens is masked, and all are filled at once by the most likely one
    /// (as in the paper's reference code). Of a long text as much around the gap as the model can read.
    pub fn fill(&self, text: &str, gap: &Range<usize>) -> Result<String, MaskedLmError> {
        let encoding = self.tokenizer.encode(text, false).map_err(|error| MaskedLmError::Tokenizer(error.to_string()))?;
        let is_in_gap = |&(start, end): &(usize, usize)| start < gap.end && end > gap.start && end > start;
        let offsets = encoding.get_offsets();
        let Some(first) = offsets.iter().position(is_in_gap) else { return Ok(String::new()) };
        let masked = first..offsets.iter().rposition(is_in_gap).map_or(first, |last| last + 1);
        let room = self.longest.saturating_sub(2);
        let masked = masked.start..masked.end.min(masked.start + room);
        let window = around(&masked, offsets.len(), room);
        let mut ids = encoding.get_ids().to_vec();
        ids[masked.clone()].fill(self.mask);
        let filled = self.most_likely(&ids[window.clone()], masked.start - window.start..masked.end - window.start);
        let filled = filled.map_err(|error| MaskedLmError::Engine(first_line(&error)))?;
        self.tokenizer.decode(&filled, true).map_err(|error| MaskedLmError::Tokenizer(error.to_string()))
    }

    /// The most likely tokens at the places of `masked`, no special ones.
    fn most_likely(&self, ids: &[TokenId], masked: Range<usize>) -> candle_core::Result<Vec<TokenId>> {
        let frame = |name: &str| self.tokenizer.token_to_id(name);
        let (begin, end) = (frame("<s>"), frame("</s>"));
        let framed: Vec<TokenId> = begin.iter().chain(ids).chain(&end).copied().collect();
        let input = Tensor::new(&framed[..], &Device::Cpu)?.unsqueeze(0)?;
        let logits = self.model.forward(&input, &input.ones_like()?, &input.zeros_like()?, None, None, None)?;
        let mut logits = logits.squeeze(0)?.narrow(0, masked.start + usize::from(begin.is_some()), masked.len())?;
        if let Some(bias) = &self.bias {
            logits = logits.broadcast_add(bias)?;
        }
        let best = |row: Vec<f32>| {
            let allowed = row.iter().enumerate().filter(|(id, _)| !self.special.contains(&(*id as TokenId)));
            allowed.max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(id, _)| id as TokenId)
        };
        Ok(logits.to_vec2::<f32>()?.into_iter().map(best).collect())
    }
}

/// RoBERTa's own files do not say how positions are embedded: there is only one way.
fn read_config(json: &[u8]) -> Result<Config, MaskedLmError> {
    let failed = |error: serde_json::Error| MaskedLmError::Config(error.to_string());
    let mut config: serde_json::Value = serde_json::from_slice(json).map_err(failed)?;
    if let Some(fields) = config.as_object_mut() {
        fields.entry("position_embedding_type").or_insert("absolute".into());
    }
    serde_json::from_value(config).map_err(failed)
}

/// `room` of `length` tokens with `middle` in their middle, as far as there are some.
fn around(middle: &Range<usize>, length: usize, room: usize) -> Range<usize> {
    let spare = room.saturating_sub(middle.len());
    let start = middle.start.saturating_sub(spare / 2).min(length.saturating_sub(room));
    start..length.min(start + room.max(middle.len()))
}

fn first_line(error: &candle_core::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_the_gap_in_its_middle_where_there_is_text_on_both_sides() {
        assert_eq!(around(&(50..54), 100, 10), 47..57);
        assert_eq!(around(&(0..4), 100, 10), 0..10);
        assert_eq!(around(&(98..100), 100, 10), 90..100);
        assert_eq!(around(&(2..5), 7, 10), 0..7);
    }
}
