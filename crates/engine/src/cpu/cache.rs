//! Per-layer caches of the text read so far: keys and values, convolution inputs, recurrent state.

use candle_core::{Result, Tensor};

use super::growing::Growing;
use glasscage_model::tokenizer::TokenId;

/// A text without edits, and its caches.
pub struct ScoredText {
    pub tokens: Vec<TokenId>,
    pub cache: Cache,
}

/// The caches of all layers for one text.
#[derive(Clone)]
pub struct Cache {
    /// Tokens in the text.
    pub length: usize,
    pub layers: Vec<LayerCache>,
}

/// The cache of one layer. The fields that the layer uses are set as soon as the text is not empty.
#[derive(Clone, Default)]
pub struct LayerCache {
    /// For attention layers.
    pub keys_values: Option<KeysValues>,
    /// Inputs of a convolution: `[taps - 1 + tokens, channels]`, zeros first.
    pub columns: Option<Growing>,
    /// Inputs of a recurrent layer's projections, `[tokens, dim]`; only if `keeps_all`.
    pub inputs: Option<Growing>,
    /// Recurrent state after the text.
    pub memory: Option<Memory>,
    /// Cache of a part of the text, from which the caches of longer parts are computed.
    pub replayed: Option<Box<Self>>,
    /// Whether to keep what [`Cache::prefix`] needs: all convolution inputs, or the layer inputs. Otherwise only the last convolution
    /// inputs stay, which the next tokens need.
    pub keeps_all: bool,
}

/// Recurrent state after `tokens` tokens. Its size does not depend on their number: `[n_value_heads, head_dim, head_dim]`.
#[derive(Clone)]
pub struct Memory {
    pub tokens: usize,
    pub states: Vec<f32>,
}

/// `[n_kv_heads, tokens, head_dim]` each.
#[derive(Clone)]
pub struct KeysValues {
    pub keys: Growing,
    pub values: Growing,
}

impl Cache {
    /// Caches of an empty text. `keeps_all` if prefixes of the text will be requested.
    pub fn new(n_layers: usize, keeps_all: bool) -> Self {
        Self { length: 0, layers: vec![LayerCache { keeps_all, ..LayerCache::default() }; n_layers] }
    }

    /// Caches of the first `tokens` tokens of a text whose caches keep all. The caches of recurrent layers are left empty; the layers
    /// compute them.
    pub fn prefix(&self, tokens: usize) -> Result<Self> {
        let layers = self.layers.iter().map(|layer| layer.prefix(tokens, self.length));
        Ok(Self { length: tokens, layers: layers.collect::<Result<_>>()? })
    }
}

impl LayerCache {
    fn prefix(&self, tokens: usize, length: usize) -> Result<Self> {
        let keys_values = self.keys_values.as_ref().filter(|_| tokens > 0).map(|all| all.prefix(tokens)).transpose()?;
        // The rows before the first token are zeros.
        let all_columns = self.columns.as_ref().filter(|_| self.inputs.is_none());
        let columns = all_columns.map(|all| all.part(tokens, all.rows().dim(0)? - length)).transpose()?;
        Ok(Self { keys_values, columns, ..Self::default() })
    }

    /// Appends the inputs of the next tokens if `keeps_all`.
    pub fn keep_inputs(&mut self, inputs: &Tensor) -> Result<()> {
        if self.keeps_all {
            self.inputs = Some(Growing::after(self.inputs.take(), inputs, 0)?);
        }
        Ok(())
    }

    /// Number of tokens in the recurrent state.
    pub fn remembered(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.tokens)
    }
}

impl KeysValues {
    fn prefix(&self, tokens: usize) -> Result<Self> {
        Ok(Self { keys: self.keys.part(0, tokens)?, values: self.values.part(0, tokens)? })
    }

    /// Appends the keys and values of the next tokens to `past`.
    pub fn after(past: Option<Self>, keys: &Tensor, values: &Tensor) -> Result<Self> {
        let (past_keys, past_values) = past.map(|past| (past.keys, past.values)).unzip();
        Ok(Self { keys: Growing::after(past_keys, keys, 1)?, values: Growing::after(past_values, values, 1)? })
    }
}
