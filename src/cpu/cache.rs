//! What the layers keep of a text, so that the next tokens need not compute it again.

use candle_core::{Result, Tensor};

/// Of a text, by layer.
#[derive(Clone)]
pub struct Cache {
    /// Tokens in the text.
    pub length: usize,
    pub layers: Vec<LayerCache>,
}

/// What a layer needs of it is there as soon as the text is not empty.
#[derive(Clone, Default)]
pub struct LayerCache {
    /// Of attention.
    pub keys_values: Option<KeysValues>,
    /// What a convolution reads: `[taps - 1 + tokens, channels]`, zeros first.
    pub columns: Option<Tensor>,
    /// What a layer with a memory projects, `[tokens, dim]`; only where all is kept.
    pub inputs: Option<Tensor>,
    /// After the text.
    pub memory: Option<Memory>,
    /// Of a part of the text, from where that of others is computed.
    pub replayed: Option<Box<Self>>,
    /// Whether what is needed for [`Cache::prefix`] stays: all columns, or inputs. Else the last columns do, without which nothing can be
    /// appended.
    pub keeps_all: bool,
}

/// What a layer remembers of so many tokens, whatever their number: `[n_value_heads, head_dim, head_dim]`.
#[derive(Clone)]
pub struct Memory {
    pub tokens: usize,
    pub states: Vec<f32>,
}

/// `[n_kv_heads, tokens, head_dim]` each.
#[derive(Clone)]
pub struct KeysValues {
    pub keys: Tensor,
    pub values: Tensor,
}

impl Cache {
    /// Of an empty text; `keeps_all` where prefixes of it will be wanted.
    pub fn new(n_layers: usize, keeps_all: bool) -> Self {
        Self { length: 0, layers: vec![LayerCache { keeps_all, ..LayerCache::default() }; n_layers] }
    }

    /// That of the first `tokens` tokens of a text whose cache keeps all; without what layers with a memory need, which they make.
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
        let columns = all_columns.map(|all| all.narrow(0, tokens, all.dim(0)? - length)).transpose()?;
        Ok(Self { keys_values, columns, ..Self::default() })
    }

    /// Adds those of the next tokens where they may be wanted again.
    pub fn keep_inputs(&mut self, inputs: &Tensor) -> Result<()> {
        if self.keeps_all {
            self.inputs = Some(match self.inputs.take() {
                Some(past) => Tensor::cat(&[&past, inputs], 0)?,
                None => inputs.clone(),
            });
        }
        Ok(())
    }

    /// Tokens in the memory.
    pub fn remembered(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.tokens)
    }
}

impl KeysValues {
    fn prefix(&self, tokens: usize) -> Result<Self> {
        Ok(Self { keys: self.keys.narrow(1, 0, tokens)?, values: self.values.narrow(1, 0, tokens)? })
    }

    /// `past`, then these.
    pub fn after(self, past: Option<Self>) -> Result<Self> {
        match past {
            Some(past) => Ok(Self { keys: Tensor::cat(&[past.keys, self.keys], 1)?, values: Tensor::cat(&[past.values, self.values], 1)? }),
            None => Ok(self),
        }
    }
}
