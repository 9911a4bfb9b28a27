//! A masked language model of the RoBERTa family on candle. Fills a whole span of a text at once, using the text on both sides.

use std::ops::Range;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::xlm_roberta::{Config, XLMRobertaForMaskedLM};
use serde_json::Value as Json;

use super::first_line;
use glasscage_message::{Message, ToMessage, message};
use glasscage_model::gguf::{Metadata, Value};
use glasscage_model::tokenizer::{Token, TokenId, Tokenizer};

/// A model and its tokenizer.
pub struct MaskedLm {
    model: XLMRobertaForMaskedLM,
    /// Bias of the vocabulary, which candle's model omits.
    bias: Option<Tensor>,
    tokenizer: Tokenizer,
    /// The mask token.
    mask: TokenId,
    /// The tokens before and after every text.
    frame: [TokenId; 2],
    /// Maximum number of tokens, including the tokens before and after the text.
    longest: usize,
}

/// Why a masked language model cannot be used.
#[derive(Debug, thiserror::Error, ToMessage)]
pub enum MaskedLmError {
    #[error("config.json is not that of a RoBERTa model: {0}")]
    Config(Message),
    #[error("tokenizer.json cannot be read: {0}")]
    Tokenizer(Message),
    #[error("the tokenizer has no token <mask>, so this is not a masked language model")]
    NoMask,
    #[error("model.safetensors is not the weights of this model: {0}")]
    Weights(String),
    #[error("the masked language model failed: {0}")]
    Engine(String),
}

impl MaskedLm {
    /// Loads the three files as they are published: `config.json`, `tokenizer.json`, `model.safetensors`.
    pub fn load(config: &[u8], tokenizer: &[u8], weights: Vec<u8>) -> Result<Self, MaskedLmError> {
        let config = read_config(config)?;
        let metadata = metadata(tokenizer)?;
        let id = |name: &str| {
            metadata.strings(TOKENS).ok().flatten().and_then(|names| names.iter().position(|known| known == name)).map(|id| id as TokenId)
        };
        let mask = id("<mask>").ok_or(MaskedLmError::NoMask)?;
        let no_frame = || MaskedLmError::Tokenizer(message!("it has no tokens <s> and </s>"));
        let frame = [id("<s>").ok_or_else(no_frame)?, id("</s>").ok_or_else(no_frame)?];
        let tokenizer = Tokenizer::from_metadata(&metadata).map_err(|error| MaskedLmError::Tokenizer(error.to_message()))?;
        let failed = |error: candle_core::Error| MaskedLmError::Weights(first_line(&error));
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu).map_err(failed)?;
        let bias = weights.contains_tensor("lm_head.bias").then(|| weights.get(config.vocab_size, "lm_head.bias")).transpose();
        Ok(Self {
            bias: bias.map_err(failed)?,
            model: XLMRobertaForMaskedLM::new(&config, weights).map_err(failed)?,
            tokenizer,
            mask,
            frame,
            // Positions start after the position of the padding token.
            longest: config.max_position_embeddings.saturating_sub(config.pad_token_id as usize + 1),
        })
    }

    /// Tokens of a text, for [`Self::fill_tokens`].
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        self.tokenizer.encode(text)
    }

    /// Predicts the text of `text[span]`: see [`Self::fill_tokens`].
    pub fn fill(&self, text: &str, span: &Range<usize>) -> Result<String, MaskedLmError> {
        self.fill_tokens(&self.tokens(text), span)
    }

    /// Predicts the text of the byte range `span` of the text with these tokens. Masks each token of the span, and fills all of them at
    /// once with the most likely tokens (as in the paper's reference code). If the text is too long, reads as much around the span as the
    /// model can.
    pub fn fill_tokens(&self, tokens: &[Token], span: &Range<usize>) -> Result<String, MaskedLmError> {
        let is_in_span = |token: &Token| token.span.start < span.end && token.span.end > span.start && !token.span.is_empty();
        let Some(first) = tokens.iter().position(is_in_span) else { return Ok(String::new()) };
        let masked = first..tokens.iter().rposition(is_in_span).map_or(first, |last| last + 1);
        let room = self.longest.saturating_sub(2);
        let masked = masked.start..masked.end.min(masked.start + room);
        let window = around(&masked, tokens.len(), room);
        let mut ids: Vec<TokenId> = tokens.iter().map(|token| token.id).collect();
        ids[masked.clone()].fill(self.mask);
        let filled = self.most_likely(&ids[window.clone()], masked.start - window.start..masked.end - window.start);
        let filled = filled.map_err(|error| MaskedLmError::Engine(first_line(&error)))?;
        let bytes: Vec<u8> = filled.iter().flat_map(|&token| self.tokenizer.bytes(token)).copied().collect();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The most likely tokens at the positions `masked`, without special tokens.
    fn most_likely(&self, ids: &[TokenId], masked: Range<usize>) -> candle_core::Result<Vec<TokenId>> {
        let [begin, end] = self.frame;
        let framed: Vec<TokenId> = std::iter::once(begin).chain(ids.iter().copied()).chain([end]).collect();
        let input = Tensor::new(&framed[..], &Device::Cpu)?.unsqueeze(0)?;
        let logits = self.model.forward(&input, &input.ones_like()?, &input.zeros_like()?, None, None, None)?;
        let mut logits = logits.squeeze(0)?.narrow(0, masked.start + 1, masked.len())?;
        if let Some(bias) = &self.bias {
            logits = logits.broadcast_add(bias)?;
        }
        let best = |row: &Vec<f32>| {
            if row.iter().any(|logit| !logit.is_finite()) {
                candle_core::bail!("it computed something that is not a number; its file may be damaged");
            }
            let allowed = row.iter().enumerate().filter(|(id, _)| !self.tokenizer.is_control(*id as TokenId));
            Ok(allowed.max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(id, _)| id as TokenId))
        };
        logits.to_vec2::<f32>()?.iter().map(best).collect()
    }
}

const TOKENS: &str = "tokenizer.ggml.tokens";

/// Converts `tokenizer.json` to the metadata of a GGUF file. RoBERTa's tokenizer is GPT-2's (byte-level BPE) with another vocabulary.
/// Other tokenizers, such as XLM-RoBERTa's, are not supported.
fn metadata(json: &[u8]) -> Result<Metadata, MaskedLmError> {
    let failed = MaskedLmError::Tokenizer;
    let json: Json = serde_json::from_slice(json).map_err(|error| failed(Message::verbatim(&error)))?;
    let (vocabulary, merges) = match (&json["model"]["vocab"], &json["model"]["merges"]) {
        (Json::Object(vocabulary), Json::Array(merges)) => (vocabulary, merges),
        _ => return Err(failed(message!("its vocabulary is not byte-level BPE, which RoBERTa uses"))),
    };
    let added = json["added_tokens"].as_array().map_or(&[][..], Vec::as_slice);
    let added = || added.iter().filter_map(|token| Some((token["content"].as_str()?, token["id"].as_u64()?, token["special"].as_bool()?)));
    let known = vocabulary.iter().filter_map(|(name, id)| Some((name.as_str(), id.as_u64()?)));
    let named: Vec<(&str, u64)> = known.chain(added().map(|(name, id, _)| (name, id))).collect();
    // Ids without a name become an empty text, which never occurs.
    let length = named.iter().map(|(_, id)| id.saturating_add(1)).max().unwrap_or(0);
    if length > 2 * named.len() as u64 {
        return Err(failed(message!("its vocabulary has more gaps than tokens")));
    }
    let length = length as usize;
    let (mut names, mut kinds) = (vec![String::new(); length], vec![1.0; length]);
    named.iter().for_each(|(name, id)| names[*id as usize] = (*name).to_owned());
    added().filter(|(_, _, is_special)| *is_special).for_each(|(_, id, _)| kinds[id as usize] = 3.0);
    let merge = |merge: &Json| match merge {
        Json::String(pair) => Some(pair.clone()),
        Json::Array(pair) => Some(format!("{} {}", pair.first()?.as_str()?, pair.get(1)?.as_str()?)),
        _ => None,
    };
    let merges = merges.iter().map(merge).collect::<Option<_>>().ok_or_else(|| failed(message!("its merges are not pairs of tokens")))?;
    let mut metadata = Metadata::default();
    metadata.set("tokenizer.ggml.model", Value::String("gpt2".into()));
    metadata.set("tokenizer.ggml.pre", Value::String("gpt-2".into()));
    let end = names.iter().position(|name| name == "</s>").unwrap_or(0);
    metadata.set("tokenizer.ggml.eos_token_id", Value::U64(end as u64));
    metadata.set(TOKENS, Value::Strings(names));
    metadata.set("tokenizer.ggml.token_type", Value::Numbers(kinds));
    metadata.set("tokenizer.ggml.merges", Value::Strings(merges));
    Ok(metadata)
}

/// RoBERTa's files omit how positions are embedded, because there is only one way.
fn read_config(json: &[u8]) -> Result<Config, MaskedLmError> {
    let failed = |error: serde_json::Error| MaskedLmError::Config(Message::verbatim(&error));
    let mut config: serde_json::Value = serde_json::from_slice(json).map_err(failed)?;
    if let Some(fields) = config.as_object_mut() {
        fields.entry("position_embedding_type").or_insert("absolute".into());
    }
    let config: Config = serde_json::from_value(config).map_err(failed)?;
    let Config { hidden_size, num_attention_heads, layer_norm_eps, .. } = config;
    if num_attention_heads == 0 || !hidden_size.is_multiple_of(num_attention_heads) || !(1e-12..=0.1).contains(&layer_norm_eps) {
        return Err(MaskedLmError::Config(message!("its sizes or its layer_norm_eps are not valid")));
    }
    Ok(config)
}

/// A window of `room` tokens, centered on `middle` and clamped to `0..length`.
fn around(middle: &Range<usize>, length: usize, room: usize) -> Range<usize> {
    let spare = room.saturating_sub(middle.len());
    let start = middle.start.saturating_sub(spare / 2).min(length.saturating_sub(room));
    start..length.min(start + room.max(middle.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_is_centered_and_clamped() {
        assert_eq!(around(&(50..54), 100, 10), 47..57);
        assert_eq!(around(&(0..4), 100, 10), 0..10);
        assert_eq!(around(&(98..100), 100, 10), 90..100);
        assert_eq!(around(&(2..5), 7, 10), 0..7);
    }
}
