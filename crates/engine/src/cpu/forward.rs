//! The forward pass of the transformer, layer by layer.

use std::collections::HashMap;
use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use super::attention::Attention;
use super::attention_mass::AttentionMass;
use super::cache::{Cache, LayerCache};
use super::convolution::ShortConvolution;
use super::delta_net::DeltaNet;
use super::exponentials::{gelu, silu};
use super::normalize::normalize;
use super::weight::Weight;
use super::weights::Weights;
use crate::lm::Input;
use glasscage_model::arch::Gate;
use glasscage_model::config::Config;

/// Maximum number of tokens that pass through the layers together.
const CHUNK: usize = 256;
/// Maximum number of attention scores of a chunk, over all heads: 64 MB, unless a single row has more. Attention holds two tensors of this
/// size, scores and weights. Measuring attention and flow holds up to three: weights, products, and their product.
const MAX_SCORES: usize = 1 << 24;

/// All weights and sizes of a model.
pub struct Transformer {
    pub config: Config,
    embedding: Weight,
    layers: Vec<Layer>,
    norm: Tensor,
    /// `None` if the embedding matrix is also the LM head.
    output: Option<Weight>,
    /// Angles at position 1 in radians, `rotated_dim / 2` per rotation: see [`Config::rotations`].
    rotations: Vec<Vec<f64>>,
}

struct Layer {
    /// See [`glasscage_model::arch::Norms`].
    mixer_norm: Option<Tensor>,
    added_mixer_norm: Option<Tensor>,
    mixer: Mixer,
    ffn_norm: Option<Tensor>,
    added_ffn_norm: Option<Tensor>,
    gate: Weight,
    up: Weight,
    down: Weight,
}

/// How a layer mixes a row with earlier rows.
enum Mixer {
    Attention(Attention),
    ShortConvolution(ShortConvolution),
    DeltaNet(DeltaNet),
}

impl Transformer {
    /// Builds the model from its weights by GGUF tensor name.
    pub fn new(config: Config, weights: HashMap<String, Weight>) -> Result<Self> {
        let mut weights = Weights(weights);
        let factors = weights.find("rope_freqs.weight").map(|factors| factors.values()?.to_vec1::<f32>()).transpose()?;
        let rotations = config.rotations(factors.as_deref()).map_err(|error| candle_core::Error::Msg(error.to_string()))?;
        Ok(Self {
            embedding: weights.matrix("token_embd.weight")?,
            layers: (0..config.n_layers).map(|i| Layer::new(&config, i, &mut weights)).collect::<Result<_>>()?,
            norm: (weights.vector(config.architecture.last_norm)? / config.logit_scale)?,
            output: weights.find("output.weight"),
            rotations,
            config,
        })
    }

    /// See [`Cache::new`].
    pub fn empty_cache(&self, keeps_all: bool) -> Cache {
        Cache::new(self.layers.len(), keeps_all)
    }

    /// The cache of the first `tokens` tokens of a text whose cache keeps all. Recurrent states continue from the last request, so
    /// requests in ascending order cost little more than the longest one.
    pub fn prefix(&self, cache: &mut Cache, tokens: usize) -> Result<Cache> {
        let mut prefix = cache.prefix(tokens)?;
        for ((layer, all), prefix) in self.layers.iter().zip(&mut cache.layers).zip(&mut prefix.layers) {
            if let Mixer::DeltaNet(net) = &layer.mixer {
                *prefix = net.prefix(tokens, all)?;
            }
        }
        Ok(prefix)
    }

    /// Reads `inputs` after the text in `cache`, and adds them to it. Returns their hidden states, `[inputs, dim]`. Adds attention to
    /// `attention_mass`.
    pub fn forward(&self, inputs: &[Input], cache: &mut Cache, attention_mass: &mut AttentionMass) -> Result<Tensor> {
        let chunk = chunk_rows(self.config.n_heads, cache.length + inputs.len());
        let chunks = inputs.chunks(chunk).map(|chunk| self.forward_chunk(chunk, cache, attention_mass));
        Tensor::cat(&chunks.collect::<Result<Vec<_>>>()?, 0)
    }

    fn forward_chunk(&self, inputs: &[Input], cache: &mut Cache, attention_mass: &mut AttentionMass) -> Result<Tensor> {
        let angles = self.angles(cache.length, inputs.len())?;
        let Config { embedding_scale, norm_epsilon, .. } = self.config;
        let residual_epsilon = self.config.residual_epsilon();
        let mut x = self.embedding.embed(inputs)?;
        if embedding_scale != 1.0 {
            x = (x * embedding_scale)?;
        }
        for (layer, cache) in self.layers.iter().zip(&mut cache.layers) {
            let read = normalize(&x, layer.mixer_norm.as_ref(), residual_epsilon)?;
            let mixed = layer.mixer.forward(&self.config, &read, &angles, cache, attention_mass)?;
            x = (x + normalize(&mixed, layer.added_mixer_norm.as_ref(), norm_epsilon)?)?;
            let read = normalize(&x, layer.ffn_norm.as_ref(), residual_epsilon)?;
            let feed_forward = layer.feed_forward(self.config.architecture.gate, &read)?;
            x = (x + normalize(&feed_forward, layer.added_ffn_norm.as_ref(), norm_epsilon)?)?;
        }
        cache.length += inputs.len();
        Ok(x)
    }

    /// Hidden states after the last norm, as the LM head expects them, `[n, dim]`.
    pub fn normalize_last(&self, hidden: &Tensor) -> Result<Tensor> {
        normalize(&hidden.contiguous()?, Some(&self.norm), self.config.residual_epsilon())
    }

    /// Logits of a range of the vocabulary from normalized states: `[n, dim]` -> `[n, tokens]`.
    pub fn logits(&self, normalized: &Tensor, tokens: Range<usize>) -> Result<Tensor> {
        self.output.as_ref().unwrap_or(&self.embedding).project_to(normalized, tokens)
    }

    /// Cosines and sines of each rotation at positions `start..start + length`, each `[length, rotated_dim / 2]`.
    fn angles(&self, start: usize, length: usize) -> Result<Vec<[Tensor; 2]>> {
        let of_rotation = |frequencies: &Vec<f64>| {
            let positions = start..start + length;
            let angles: Vec<f64> =
                positions.flat_map(|position| frequencies.iter().map(move |radians| position as f64 * radians)).collect();
            let table = |function: fn(f64) -> f64| {
                let values: Vec<f32> = angles.iter().map(|&angle| function(angle) as f32).collect();
                Tensor::from_vec(values, (length, frequencies.len()), &Device::Cpu)
            };
            Ok([table(f64::cos)?, table(f64::sin)?])
        };
        self.rotations.iter().map(of_rotation).collect()
    }
}

/// Number of rows that pass through the layers together, for a text of `length` tokens. Each row has a score per head and token.
fn chunk_rows(n_heads: usize, length: usize) -> usize {
    (MAX_SCORES / n_heads.saturating_mul(length).max(1)).clamp(1, CHUNK)
}

impl Mixer {
    /// `[n, dim]` -> `[n, dim]`, after the text in the cache. Adds x to the cache.
    fn forward(
        &self,
        config: &Config,
        x: &Tensor,
        angles: &[[Tensor; 2]],
        cache: &mut LayerCache,
        attention_mass: &mut AttentionMass,
    ) -> Result<Tensor> {
        match self {
            Self::Attention(attention) => attention.forward(config, x, angles, cache, attention_mass),
            Self::ShortConvolution(convolution) => convolution.forward(x, cache),
            Self::DeltaNet(net) => net.forward(x, cache),
        }
    }
}

impl Layer {
    fn new(config: &Config, i: usize, weights: &mut Weights) -> Result<Self> {
        let name = |part: &str| format!("blk.{i}.{part}");
        let recurrence = config.recurrence.as_ref().filter(|recurrence| recurrence.layers[i]);
        let mixer = match recurrence.map(|recurrence| (recurrence, recurrence.delta_net)) {
            Some((recurrence, None)) => Mixer::ShortConvolution(ShortConvolution::new(i, recurrence.taps, weights)?),
            Some((recurrence, Some(sizes))) => Mixer::DeltaNet(DeltaNet::new(config, recurrence, sizes, i, weights)?),
            None => Mixer::Attention(Attention::new(config, i, weights)?),
        };
        let mut norm = |is_there: bool, part: &str| is_there.then(|| weights.vector(&name(part))).transpose();
        let (before, after) = (config.architecture.norms_before(), config.architecture.norms_after());
        Ok(Self {
            mixer_norm: norm(before, "attn_norm.weight")?,
            added_mixer_norm: norm(after, "post_attention_norm.weight")?,
            mixer,
            ffn_norm: norm(before, config.architecture.ffn_norm)?,
            added_ffn_norm: norm(after, "post_ffw_norm.weight")?,
            gate: weights.matrix(&name("ffn_gate.weight"))?,
            up: weights.matrix(&name("ffn_up.weight"))?,
            down: weights.matrix(&name("ffn_down.weight"))?,
        })
    }

    /// SwiGLU: down(silu(gate x) * up x), `[n, dim]` -> `[n, dim]`; or GEGLU.
    fn feed_forward(&self, gate: Gate, x: &Tensor) -> Result<Tensor> {
        let gated = match gate {
            Gate::Silu => silu(&self.gate.project(x)?)?,
            Gate::Gelu => gelu(&self.gate.project(x)?)?,
        };
        self.down.project(&(gated * self.up.project(x)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_all_heads_are_bounded() {
        assert_eq!(chunk_rows(16, 4096), CHUNK);
        assert_eq!([chunk_rows(32, 8192), chunk_rows(1024, 1 << 20), chunk_rows(0, 0)], [64, 1, CHUNK]);
    }
}
