//! The sizes of a model, from GGUF metadata.

use super::arch::{self, Architecture};
use super::gguf::{Gguf, GgufError, Metadata};

/// Far beyond any model of this kind; within it no product of two sizes of a row overflows 32 bits.
const MAX_SIZE: usize = 1 << 22;
/// The widest head that the attention kernel of the GPU takes.
const MAX_HEAD_DIM: usize = 512;

/// Sizes, as llama names them.
#[derive(Clone, Debug)]
pub struct Config {
    pub architecture: &'static Architecture,
    pub n_layers: usize,
    /// Width of the residual stream.
    pub dim: usize,
    pub ffn_dim: usize,
    pub n_heads: usize,
    /// Divides `n_heads`; fewer than `n_heads` is grouped-query attention.
    pub n_kv_heads: usize,
    /// Even; not always `dim / n_heads`.
    pub head_dim: usize,
    pub vocab_size: usize,
    /// The longest sequence the model was made for, in tokens.
    pub context_length: usize,
    pub norm_epsilon: f64,
    pub rope_base: f64,
    /// Positions are divided by this (linear scaling); 1 for none.
    pub rope_scale: f64,
}

/// Why a model cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("this model's architecture ({0}) is not supported; supported are {names}", names = arch::names())]
    Architecture(String),
    #[error("the model file does not state {0}")]
    Missing(String),
    #[error("the model file cannot be used: {0}")]
    Impossible(String),
    #[error("this model scales positions by {0:?}, which is not supported")]
    RopeScaling(String),
    #[error(transparent)]
    Gguf(#[from] GgufError),
}

impl Config {
    /// Reads the sizes and checks that they fit together.
    pub fn from_gguf(gguf: &Gguf) -> Result<Self, ConfigError> {
        let metadata = &gguf.metadata;
        let name = metadata.str("general.architecture").ok_or_else(|| ConfigError::Missing("its architecture".into()))?;
        let architecture = arch::by_name(name).ok_or_else(|| ConfigError::Architecture(name.to_owned()))?;
        let key = |field: &str| format!("{name}.{field}");
        let optional = |field: &str| metadata.u64(&key(field)).and_then(|number| usize::try_from(number).ok());
        let required = |field: &str| optional(field).ok_or_else(|| ConfigError::Missing(key(field)));
        let (dim, n_heads) = (required("embedding_length")?, required("attention.head_count")?);
        let head_dim = optional("attention.key_length").unwrap_or(dim / n_heads.max(1));
        let config = Self {
            architecture,
            n_layers: required("block_count")?,
            dim,
            ffn_dim: required("feed_forward_length")?,
            n_heads,
            n_kv_heads: optional("attention.head_count_kv").unwrap_or(n_heads),
            head_dim,
            vocab_size: gguf.tensor("token_embd.weight")?.shape.get(1).copied().unwrap_or(0),
            context_length: required("context_length")?,
            norm_epsilon: metadata.f64(&key("attention.layer_norm_rms_epsilon")).unwrap_or(1e-5),
            rope_base: metadata.f64(&key("rope.freq_base")).unwrap_or(10_000.0),
            rope_scale: rope_scale(metadata, name)?,
        };
        let rotated = optional("rope.dimension_count").unwrap_or(head_dim);
        config.check(rotated)?;
        Ok(config)
    }

    fn check(&self, rotated: usize) -> Result<(), ConfigError> {
        let facts = [
            (self.n_layers > 0 && self.n_layers <= 1024, "number of layers"),
            (self.dim > 0 && self.ffn_dim > 0 && self.vocab_size > 0, "sizes"),
            (self.n_heads > 0 && self.n_kv_heads > 0 && self.n_heads.is_multiple_of(self.n_kv_heads.max(1)), "numbers of heads"),
            (self.head_dim > 0 && self.head_dim.is_multiple_of(2) && rotated == self.head_dim, "rotated part of a head"),
            (self.n_heads.checked_mul(self.head_dim).is_some() && self.n_heads >= self.n_kv_heads, "width of all heads"),
            (self.context_length > 0, "context length"),
            (
                [self.dim, self.ffn_dim, self.n_heads.saturating_mul(self.head_dim), self.vocab_size].iter().all(|&size| size < MAX_SIZE),
                "sizes",
            ),
            (self.head_dim <= MAX_HEAD_DIM, "width of a head"),
            (self.norm_epsilon > 0.0 && self.rope_base > 0.0 && self.rope_scale > 0.0, "constants"),
        ];
        match facts.iter().find(|(holds, _)| !holds) {
            Some((_, what)) => Err(ConfigError::Impossible(format!("its {what} cannot be right"))),
            None => Ok(()),
        }
    }

    /// Keys and values (f32) of one token in all layers, in bytes.
    pub fn bytes_per_token(&self) -> u64 {
        8 * (self.n_layers * self.n_kv_heads * self.head_dim) as u64
    }

    /// Rotation angle of each pair at position 1, in radians: `base^(-2i / head_dim) / scale`, further divided by
    /// `factors` (Llama 3's `rope_freqs.weight`) where the model has them. `head_dim / 2` values.
    pub fn rope_frequencies(&self, factors: Option<&[f32]>) -> Vec<f64> {
        let frequency = |i: usize| self.rope_base.powf(-2.0 * i as f64 / self.head_dim as f64) / self.rope_scale;
        let factor = |i: usize| factors.and_then(|factors| factors.get(i)).map_or(1.0, |&factor| f64::from(factor));
        (0..self.head_dim / 2).map(|i| frequency(i) / factor(i)).collect()
    }
}

/// Linear scaling of positions; Llama 3's scheme is in the tensor `rope_freqs.weight` instead.
fn rope_scale(metadata: &Metadata, architecture: &str) -> Result<f64, ConfigError> {
    let factor = || metadata.f64(&format!("{architecture}.rope.scaling.factor")).unwrap_or(1.0);
    match metadata.str(&format!("{architecture}.rope.scaling.type")) {
        Some("none") => Ok(1.0),
        // A factor alone means linear, as in llama.cpp.
        None | Some("linear") => Ok(factor()),
        Some(other) => Err(ConfigError::RopeScaling(other.to_owned())),
    }
}
