//! The transformer, in the order of its layers.

use std::collections::HashMap;
use std::ops::Range;

use candle_core::{Device, Result, Tensor};
use candle_nn::ops::{rms_norm, silu, softmax_last_dim};
use candle_nn::rotary_emb::{rope, rope_i};

use super::attention_mass::AttentionMass;
use super::weight::Weight;
use crate::lm::Input;
use crate::model::arch::Rope;
use crate::model::config::Config;

/// Tokens that go through the layers at once; bounds the attention scores.
const CHUNK: usize = 256;

/// All weights and sizes of a model.
pub struct Transformer {
    pub config: Config,
    embedding: Weight,
    layers: Vec<Layer>,
    norm: Tensor,
    /// `None` where the embedding serves as LM head too.
    output: Option<Weight>,
    /// Radians at position 1, `head_dim / 2` of them.
    rope_frequencies: Vec<f64>,
}

struct Layer {
    attention_norm: Tensor,
    q: Projection,
    k: Projection,
    v: Projection,
    /// Over each head, `[head_dim]`.
    q_norm: Option<Tensor>,
    k_norm: Option<Tensor>,
    attention_output: Weight,
    ffn_norm: Tensor,
    gate: Weight,
    up: Weight,
    down: Weight,
}

struct Projection {
    weight: Weight,
    /// `[rows]`.
    bias: Option<Tensor>,
}

impl Projection {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let projected = self.weight.project(x)?;
        match &self.bias {
            Some(bias) => projected.broadcast_add(bias),
            None => Ok(projected),
        }
    }
}

/// Keys and values of a text, for each layer `[n_kv_heads, tokens, head_dim]`; `None` for an empty text.
#[derive(Clone)]
pub struct Cache(Vec<Option<KeysValues>>);

#[derive(Clone)]
struct KeysValues {
    keys: Tensor,
    values: Tensor,
}

impl Cache {
    /// Tokens in the text.
    pub fn len(&self) -> usize {
        self.0.first().and_then(Option::as_ref).map_or(0, |layer| layer.keys.dims()[1])
    }

    /// The cache of the first `tokens` tokens.
    pub fn prefix(&self, tokens: usize) -> Result<Self> {
        let prefix =
            |layer: &KeysValues| Ok(KeysValues { keys: layer.keys.narrow(1, 0, tokens)?, values: layer.values.narrow(1, 0, tokens)? });
        let layers = self.0.iter().map(|layer| layer.as_ref().filter(|_| tokens > 0).map(prefix).transpose());
        Ok(Self(layers.collect::<Result<_>>()?))
    }
}

/// The GGUF tensors, taken one by one; that they are all there in their shapes was checked with the header.
struct Weights(HashMap<String, Weight>);

impl Weights {
    fn find(&mut self, name: &str) -> Option<Weight> {
        self.0.remove(name)
    }

    fn matrix(&mut self, name: &str) -> Result<Weight> {
        self.find(name).ok_or_else(|| candle_core::Error::Msg(format!("tensor {name} is missing")))
    }

    fn vector(&mut self, name: &str) -> Result<Tensor> {
        self.matrix(name)?.vector()
    }
}

impl Transformer {
    /// Puts the weights, by GGUF tensor name, in their places.
    pub fn new(config: Config, weights: HashMap<String, Weight>) -> Result<Self> {
        let mut weights = Weights(weights);
        let factors = weights.find("rope_freqs.weight").map(|factors| factors.vector()?.to_vec1::<f32>()).transpose()?;
        let rope_frequencies = config.rope_frequencies(factors.as_deref()).map_err(|error| candle_core::Error::Msg(error.to_string()))?;
        Ok(Self {
            embedding: weights.matrix("token_embd.weight")?,
            layers: (0..config.n_layers).map(|i| Layer::new(&config, i, &mut weights)).collect::<Result<_>>()?,
            norm: weights.vector("output_norm.weight")?,
            output: weights.find("output.weight"),
            rope_frequencies,
            config,
        })
    }

    /// The cache of an empty text.
    pub fn empty_cache(&self) -> Cache {
        Cache(vec![None; self.layers.len()])
    }

    /// Hidden states of `inputs` read after the text in `cache`, to which they are added: `[inputs, dim]`. Attention goes to
    /// `attention_mass`.
    pub fn forward(&self, inputs: &[Input], cache: &mut Cache, attention_mass: &mut AttentionMass) -> Result<Tensor> {
        let chunks = inputs.chunks(CHUNK).map(|chunk| self.forward_chunk(chunk, cache, attention_mass));
        Tensor::cat(&chunks.collect::<Result<Vec<_>>>()?, 0)
    }

    fn forward_chunk(&self, inputs: &[Input], cache: &mut Cache, attention_mass: &mut AttentionMass) -> Result<Tensor> {
        let angles = self.angles(cache.len(), inputs.len())?;
        let mut x = self.embedding.embed(inputs)?;
        for (layer, cache) in self.layers.iter().zip(&mut cache.0) {
            let attention = layer.attention(&self.config, &self.normalize(&x, &layer.attention_norm)?, &angles, cache, attention_mass)?;
            x = (x + attention)?;
            let feed_forward = layer.feed_forward(&self.normalize(&x, &layer.ffn_norm)?)?;
            x = (x + feed_forward)?;
        }
        Ok(x)
    }

    /// Hidden states as the LM head takes them, `[n, dim]`.
    pub fn normalize_last(&self, hidden: &Tensor) -> Result<Tensor> {
        self.normalize(&hidden.contiguous()?, &self.norm)
    }

    /// Logits of some tokens of the vocabulary from normalized states: `[n, dim]` -> `[n, tokens]`.
    pub fn logits(&self, normalized: &Tensor, tokens: Range<usize>) -> Result<Tensor> {
        self.output.as_ref().unwrap_or(&self.embedding).project_to(normalized, tokens)
    }

    fn normalize(&self, x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        rms_norm(x, weight, self.config.norm_epsilon as f32)
    }

    /// Cosines and sines of positions `start..start + length`, each `[length, head_dim / 2]`.
    fn angles(&self, start: usize, length: usize) -> Result<[Tensor; 2]> {
        let positions = start..start + length;
        let angles: Vec<f64> =
            positions.flat_map(|position| self.rope_frequencies.iter().map(move |radians| position as f64 * radians)).collect();
        let table = |function: fn(f64) -> f64| {
            let values: Vec<f32> = angles.iter().map(|&angle| function(angle) as f32).collect();
            Tensor::from_vec(values, (length, self.rope_frequencies.len()), &Device::Cpu)
        };
        Ok([table(f64::cos)?, table(f64::sin)?])
    }
}

impl Layer {
    fn new(config: &Config, i: usize, weights: &mut Weights) -> Result<Self> {
        let architecture = config.architecture;
        let name = |part: &str| format!("blk.{i}.{part}");
        let mut projection = |part: &str| {
            let weight = weights.matrix(&name(&format!("{part}.weight")))?;
            let bias = architecture.qkv_bias.then(|| weights.vector(&name(&format!("{part}.bias")))).transpose()?;
            Ok::<_, candle_core::Error>(Projection { weight, bias })
        };
        let (q, k, v) = (projection("attn_q")?, projection("attn_k")?, projection("attn_v")?);
        let mut head_norm = |part: &str| architecture.qk_norm.then(|| weights.vector(&name(part))).transpose();
        Ok(Self {
            q,
            k,
            v,
            q_norm: head_norm("attn_q_norm.weight")?,
            k_norm: head_norm("attn_k_norm.weight")?,
            attention_norm: weights.vector(&name("attn_norm.weight"))?,
            attention_output: weights.matrix(&name("attn_output.weight"))?,
            ffn_norm: weights.vector(&name("ffn_norm.weight"))?,
            gate: weights.matrix(&name("ffn_gate.weight"))?,
            up: weights.matrix(&name("ffn_up.weight"))?,
            down: weights.matrix(&name("ffn_down.weight"))?,
        })
    }

    /// Causal attention of `x` (`[n, dim]`) over the text in `cache` and itself; adds its keys and values to the cache.
    fn attention(
        &self,
        config: &Config,
        x: &Tensor,
        angles: &[Tensor; 2],
        cache: &mut Option<KeysValues>,
        attention_mass: &mut AttentionMass,
    ) -> Result<Tensor> {
        let &Config { n_heads, n_kv_heads, head_dim, .. } = config;
        let n = x.dim(0)?;
        let q = rotate(&split_heads(&self.q.forward(x)?, n_heads, self.q_norm.as_ref(), config)?, angles, config)?;
        let k = rotate(&split_heads(&self.k.forward(x)?, n_kv_heads, self.k_norm.as_ref(), config)?, angles, config)?;
        let v = split_heads(&self.v.forward(x)?, n_kv_heads, None, config)?;
        let (keys, values) = match cache.take() {
            Some(past) => (Tensor::cat(&[past.keys, k], 1)?, Tensor::cat(&[past.values, v], 1)?),
            None => (k, v),
        };
        let length = keys.dim(1)?;
        // Heads that share keys are neighbors, so they stack into rows of one matrix per key head.
        let q = (q.reshape((n_kv_heads, n_heads / n_kv_heads * n, head_dim))? * (head_dim as f64).powf(-0.5))?;
        let scores = q.matmul(&keys.t()?)?.reshape((n_heads, n, length))?.broadcast_add(&causal_mask(n, length)?)?;
        let weights = softmax_last_dim(&scores)?;
        let mixed = weights.reshape((n_kv_heads, n_heads / n_kv_heads * n, length))?.matmul(&values)?;
        attention_mass.add(&weights, &values, &mixed)?;
        *cache = Some(KeysValues { keys, values });
        let mixed = mixed.reshape((n_heads, n, head_dim))?.transpose(0, 1)?.contiguous()?.reshape((n, n_heads * head_dim))?;
        self.attention_output.project(&mixed)
    }

    /// SwiGLU: down(silu(gate x) * up x), `[n, dim]` -> `[n, dim]`.
    fn feed_forward(&self, x: &Tensor) -> Result<Tensor> {
        self.down.project(&(silu(&self.gate.project(x)?)? * self.up.project(x)?)?)
    }
}

/// `[n, heads * head_dim]` -> `[heads, n, head_dim]`, each head normalized where the model does so.
fn split_heads(projected: &Tensor, heads: usize, norm: Option<&Tensor>, config: &Config) -> Result<Tensor> {
    let mut split = projected.reshape((projected.dim(0)?, heads, config.head_dim))?;
    if let Some(norm) = norm {
        split = rms_norm(&split, norm, config.norm_epsilon as f32)?;
    }
    split.transpose(0, 1)?.contiguous()
}

/// Rotary positions of `[heads, n, head_dim]`.
fn rotate(heads: &Tensor, [cos, sin]: &[Tensor; 2], config: &Config) -> Result<Tensor> {
    let batch = heads.unsqueeze(0)?;
    let rotated = match config.architecture.rope {
        Rope::Interleaved => rope_i(&batch, cos, sin),
        Rope::Halves => rope(&batch, cos, sin),
    };
    rotated?.squeeze(0)
}

/// 0 where query i of the last `n` positions may attend to key j of `length`, else minus infinity: `[1, n, length]`.
fn causal_mask(n: usize, length: usize) -> Result<Tensor> {
    let past = length - n;
    let mask = (0..n).flat_map(|i| (0..length).map(move |j| if j <= past + i { 0.0 } else { f32::NEG_INFINITY }));
    Tensor::from_vec(mask.collect::<Vec<_>>(), (1, n, length), &Device::Cpu)
}
