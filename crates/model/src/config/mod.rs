//! The sizes of a model, from GGUF metadata.

mod by_layer;
mod error;
mod recurrence;
mod settings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod window;

pub use by_layer::of_all_layers;
pub use error::ConfigError;
pub use recurrence::{DeltaNet, KvHeads, Recurrence};
pub use window::Window;

use super::arch::{self, Architecture};
use super::gguf::Gguf;
use glasscage_message::message;

/// Far above any model of this kind.
const MAX_SIZE: usize = 1 << 22;
/// The deepest models have about 130.
const MAX_LAYERS: usize = 1024;
/// The widest head that the GPU's attention kernel supports.
const MAX_HEAD_DIM: usize = 512;

/// Sizes, with Llama's names.
#[derive(Clone, Debug)]
pub struct Config {
    pub architecture: &'static Architecture,
    pub n_layers: usize,
    /// Additional layers of the file that predict more than the next token. They are not run.
    pub n_unused_layers: usize,
    /// Width of the residual stream.
    pub dim: usize,
    pub ffn_dim: usize,
    pub n_heads: usize,
    /// Divides `n_heads`. Fewer than `n_heads`: grouped-query attention.
    pub n_kv_heads: usize,
    /// Even. May differ from `dim / n_heads`.
    pub head_dim: usize,
    /// Number of values of a head that rotate, starting at the first; even.
    pub rotated_dim: usize,
    pub vocab_size: usize,
    /// Maximum sequence length of the model, in tokens.
    pub context_length: usize,
    pub norm_epsilon: f64,
    pub rope_base: f64,
    /// Divisor of the positions (linear scaling); 1 for none.
    pub rope_scale: f64,
    /// In every group of this many layers, the last has no rotary embedding. 0: all layers have it.
    pub unrotated_every: usize,
    pub window: Option<Window>,
    /// Layers without attention.
    pub recurrence: Option<Recurrence>,
    /// Factor of the attention scores.
    pub attention_scale: f64,
    /// Factor of the outputs of attention and feed-forward networks. The engines divide the residual stream by it instead.
    pub residual_scale: f64,
    /// Factor of the embeddings when they enter the divided residual stream.
    pub embedding_scale: f64,
    /// Divisor of the logits. The engines divide the weights of the last norm instead.
    pub logit_scale: f64,
}

/// Errors if a model cannot have this many layers. Call it before anything is allocated for each layer.
pub fn check_layers(n_layers: usize) -> Result<(), ConfigError> {
    match n_layers {
        1..=MAX_LAYERS => Ok(()),
        _ => Err(ConfigError::Impossible(message!("its number of layers is not valid"))),
    }
}

impl Config {
    /// Reads the sizes and checks that they fit together.
    pub fn from_gguf(gguf: &Gguf) -> Result<Self, ConfigError> {
        let metadata = &gguf.metadata;
        let name = metadata.str("general.architecture")?.ok_or(ConfigError::NoArchitecture)?;
        let architecture = arch::by_name(name).ok_or_else(|| ConfigError::Architecture(name.to_owned()))?;
        let key = |field: &str| format!("{name}.{field}");
        // A number above `usize::MAX` exceeds every limit of `check` too.
        let optional = |field: &str| -> Result<Option<usize>, ConfigError> {
            Ok(metadata.u64(&key(field))?.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
        };
        let required = |field: &str| optional(field)?.ok_or_else(|| ConfigError::Missing(key(field)));
        settings::check(metadata, architecture)?;
        let n_unused_layers = optional("nextn_predict_layers")?.unwrap_or(0);
        let n_layers = required("block_count")?.saturating_sub(n_unused_layers);
        check_layers(n_layers)?;
        let of_all_layers = |field: &str| -> Result<usize, ConfigError> {
            let number = of_all_layers(metadata, &key(field), n_layers)?.ok_or_else(|| ConfigError::Missing(key(field)))?;
            Ok(usize::try_from(number).unwrap_or(usize::MAX))
        };
        let (dim, n_heads) = (required("embedding_length")?, of_all_layers("attention.head_count")?);
        let head_dim = optional("attention.key_length")?.unwrap_or(dim / n_heads.max(1));
        let rotated_dim = optional("rope.dimension_count")?.unwrap_or(head_dim);
        let KvHeads { n: n_kv_heads, recurrence } = KvHeads::read(metadata, architecture, n_layers)?;
        let scale = |field: &str| settings::scale(metadata, architecture, field);
        let residual_scale = scale("residual_scale")?.unwrap_or(1.0);
        // Gemma 3 27B has another divisor. llama.cpp, too, recognizes the model by its number of layers (src/models/gemma3.cpp).
        let score_dim = if architecture.scales_by_width && n_layers == 62 { dim / n_heads.max(1) } else { head_dim };
        let by_width = if architecture.scales_by_width { (dim as f64).sqrt() } else { 1.0 };
        let config = Self {
            architecture,
            n_layers,
            n_unused_layers,
            dim,
            ffn_dim: of_all_layers("feed_forward_length")?,
            n_heads,
            n_kv_heads: n_kv_heads.unwrap_or(n_heads),
            head_dim,
            rotated_dim,
            vocab_size: gguf.tensor("token_embd.weight")?.shape.get(1).copied().unwrap_or(0),
            context_length: required("context_length")?,
            norm_epsilon: settings::norm_epsilon(metadata, name)?,
            rope_base: settings::rope_base(metadata, name)?,
            rope_scale: settings::rope_scale(metadata, name)?,
            unrotated_every: if settings::is_unrotated(metadata, architecture)? { 1 } else { architecture.unrotated_every },
            window: Window::read(metadata, architecture, n_layers)?,
            recurrence,
            attention_scale: scale("attention.scale")?.unwrap_or_else(|| (score_dim as f64).powf(-0.5)),
            embedding_scale: scale("embedding_scale")?.unwrap_or(by_width) / residual_scale,
            residual_scale,
            logit_scale: scale("logit_scale")?.unwrap_or(1.0),
        };
        config.check(optional("attention.value_length")?.unwrap_or(head_dim))?;
        Ok(config)
    }

    fn check(&self, value_dim: usize) -> Result<(), ConfigError> {
        let facts = [
            (self.dim > 0 && self.ffn_dim > 0 && self.vocab_size > 0, message!("its sizes are not valid")),
            (
                self.n_heads > 0 && self.n_kv_heads > 0 && self.n_heads.is_multiple_of(self.n_kv_heads.max(1)),
                message!("its numbers of heads are not valid"),
            ),
            (
                self.head_dim > 0 && self.head_dim.is_multiple_of(2) && self.rotates_right(),
                message!("its rotated part of a head is not valid"),
            ),
            (self.context_length > 0, message!("its context length is not valid")),
            (
                [self.dim, self.ffn_dim, self.n_heads.saturating_mul(self.head_dim), self.vocab_size].iter().all(|&size| size < MAX_SIZE),
                message!("its sizes are not valid"),
            ),
            (self.head_dim <= MAX_HEAD_DIM && value_dim == self.head_dim, message!("its width of a head is not valid")),
        ];
        match facts.into_iter().find(|(holds, _)| !holds) {
            Some((_, what)) => Err(ConfigError::Impossible(what)),
            None => Ok(()),
        }
    }

    fn rotates_right(&self) -> bool {
        let is_part = (2..self.head_dim).contains(&self.rotated_dim) && self.rotated_dim.is_multiple_of(2);
        self.rotated_dim == self.head_dim || is_part && self.architecture.rotates_part
    }

    /// Bytes that all layers keep of one token, as f32: keys and values, the inputs of a convolution, or the projections of a recurrent
    /// layer.
    pub fn bytes_per_token(&self) -> u64 {
        // 64 bits, because the sum over the layers may exceed the 32 bits of WebAssembly.
        let of_layer = |i: usize| {
            if self.has_attention(i) { 2 * self.n_kv_heads as u64 * self.head_dim as u64 } else { self.dim as u64 }
        };
        4 * (0..self.n_layers).map(of_layer).sum::<u64>()
    }

    /// Number of tokens that convolutions read; 1 without convolutions.
    pub fn taps(&self) -> usize {
        self.recurrence.as_ref().map_or(1, |recurrence| recurrence.taps)
    }

    /// Whether only attention mixes tokens. Attention then shows where information comes from.
    pub fn attends_everywhere(&self) -> bool {
        self.recurrence.is_none()
    }

    /// Whether a layer has attention.
    pub fn has_attention(&self, layer: usize) -> bool {
        self.recurrence.as_ref().is_none_or(|recurrence| !recurrence.layers[layer])
    }

    /// Norm epsilon for the divided residual stream: see [`Config::residual_scale`].
    pub fn residual_epsilon(&self) -> f64 {
        self.norm_epsilon / self.residual_scale.powi(2)
    }

    /// Maximum number of keys that a row of the layer sees, including its own; `None` for all.
    pub fn window_of(&self, layer: usize) -> Option<usize> {
        self.window.as_ref().filter(|window| window.layers[layer]).map(|window| window.keys)
    }

    /// Index of the layer's rotation in [`Config::rotations`].
    pub fn rotation_of(&self, layer: usize) -> usize {
        let is_unrotated = self.unrotated_every > 0 && (layer + 1).is_multiple_of(self.unrotated_every);
        usize::from(is_unrotated || self.window_of(layer).is_some())
    }

    /// Rotary frequencies in radians at position 1, `rotated_dim / 2` values each. The first list is for most layers. The second is for
    /// layers that differ, because they have a window or do not rotate.
    pub fn rotations(&self, factors: Option<&[f32]>) -> Result<Vec<Vec<f64>>, ConfigError> {
        let usual = self.rope_frequencies(factors)?;
        let unrotated = (self.unrotated_every > 0).then(|| vec![0.0; usual.len()]);
        let in_windows = self.window.as_ref().map(|window| Self { rope_base: window.rope_base, rope_scale: 1.0, ..self.clone() });
        let in_windows = in_windows.map(|config| config.rope_frequencies(None)).transpose()?;
        Ok(std::iter::once(usual).chain(in_windows.or(unrotated)).collect())
    }

    /// Rotation angle of each pair at position 1, in radians: `base^(-2i / rotated_dim) / scale`, further divided by `factors` (Llama 3's
    /// `rope_freqs.weight`) if the model has them. `rotated_dim / 2` values.
    ///
    /// Errors if a factor is not valid.
    fn rope_frequencies(&self, factors: Option<&[f32]>) -> Result<Vec<f64>, ConfigError> {
        if let Some(&factor) = factors.unwrap_or_default().iter().find(|&&factor| !settings::ROPE_FACTORS.contains(&factor.into())) {
            return Err(ConfigError::RopeFactor { value: factor });
        }
        let frequency = |i: usize| self.rope_base.powf(-2.0 * i as f64 / self.rotated_dim as f64) / self.rope_scale;
        let factor = |i: usize| factors.and_then(|factors| factors.get(i)).map_or(1.0, |&factor| f64::from(factor));
        Ok((0..self.rotated_dim / 2).map(|i| frequency(i) / factor(i)).collect())
    }
}
