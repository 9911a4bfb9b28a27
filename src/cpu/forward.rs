//! The transformer, in the order of its layers.

use std::collections::HashMap;
use std::ops::Range;

use candle_core::{Device, Result, Tensor};
use candle_nn::ops::{rms_norm, silu, softmax_last_dim};
use candle_nn::rotary_emb::{rope, rope_i};

use super::attention_mass::AttentionMass;
use super::weight::Weight;
use crate::lm::Input;
use crate::model::arch::{Gate, QkNorm, Rope};
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
    /// Radians at position 1, `head_dim / 2` of them: see [`Config::rotations`].
    rotations: Vec<Vec<f64>>,
}

struct Layer {
    /// See [`crate::model::arch::Norms`].
    attention_norm: Option<Tensor>,
    added_attention_norm: Option<Tensor>,
    q: Projection,
    k: Projection,
    v: Projection,
    /// Over each head, `[head_dim]`, or over all of them.
    q_norm: Option<Tensor>,
    k_norm: Option<Tensor>,
    attention_output: Weight,
    ffn_norm: Option<Tensor>,
    added_ffn_norm: Option<Tensor>,
    gate: Weight,
    up: Weight,
    down: Weight,
    /// Number of the rotation.
    rotation: usize,
    /// Keys that a row sees, where not all.
    window: Option<usize>,
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
        let rotations = config.rotations(factors.as_deref()).map_err(|error| candle_core::Error::Msg(error.to_string()))?;
        Ok(Self {
            embedding: weights.matrix("token_embd.weight")?,
            layers: (0..config.n_layers).map(|i| Layer::new(&config, i, &mut weights)).collect::<Result<_>>()?,
            norm: (weights.vector("output_norm.weight")? / config.logit_scale)?,
            output: weights.find("output.weight"),
            rotations,
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
        let Config { embedding_scale, norm_epsilon, .. } = self.config;
        let residual_epsilon = self.config.residual_epsilon();
        let mut x = self.embedding.embed(inputs)?;
        if embedding_scale != 1.0 {
            x = (x * embedding_scale)?;
        }
        for (layer, cache) in self.layers.iter().zip(&mut cache.0) {
            let read = normalize(&x, layer.attention_norm.as_ref(), residual_epsilon)?;
            let attention = layer.attention(&self.config, &read, &angles[layer.rotation], cache, attention_mass)?;
            x = (x + normalize(&attention, layer.added_attention_norm.as_ref(), norm_epsilon)?)?;
            let read = normalize(&x, layer.ffn_norm.as_ref(), residual_epsilon)?;
            let feed_forward = layer.feed_forward(self.config.architecture.gate, &read)?;
            x = (x + normalize(&feed_forward, layer.added_ffn_norm.as_ref(), norm_epsilon)?)?;
        }
        Ok(x)
    }

    /// Hidden states as the LM head takes them, `[n, dim]`.
    pub fn normalize_last(&self, hidden: &Tensor) -> Result<Tensor> {
        normalize(&hidden.contiguous()?, Some(&self.norm), self.config.residual_epsilon())
    }

    /// Logits of some tokens of the vocabulary from normalized states: `[n, dim]` -> `[n, tokens]`.
    pub fn logits(&self, normalized: &Tensor, tokens: Range<usize>) -> Result<Tensor> {
        self.output.as_ref().unwrap_or(&self.embedding).project_to(normalized, tokens)
    }

    /// Of each rotation cosines and sines of positions `start..start + length`, each `[length, head_dim / 2]`.
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
        let mut norm = |is_there: bool, part: &str| is_there.then(|| weights.vector(&name(part))).transpose();
        let (has_qk_norm, before, after) = (architecture.qk_norm != QkNorm::None, architecture.norms_before(), architecture.norms_after());
        Ok(Self {
            q,
            k,
            v,
            q_norm: norm(has_qk_norm, "attn_q_norm.weight")?,
            k_norm: norm(has_qk_norm, "attn_k_norm.weight")?,
            attention_norm: norm(before, "attn_norm.weight")?,
            added_attention_norm: norm(after, "post_attention_norm.weight")?,
            ffn_norm: norm(before, "ffn_norm.weight")?,
            added_ffn_norm: norm(after, "post_ffw_norm.weight")?,
            rotation: config.rotation_of(i),
            window: config.window_of(i),
            attention_output: weights.matrix(&name("attn_output.weight"))?,
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
        let q = (q.reshape((n_kv_heads, n_heads / n_kv_heads * n, head_dim))? * config.attention_scale)?;
        let scores = q.matmul(&keys.t()?)?.reshape((n_heads, n, length))?.broadcast_add(&causal_mask(n, length, self.window)?)?;
        let weights = softmax_last_dim(&scores)?;
        let mixed = weights.reshape((n_kv_heads, n_heads / n_kv_heads * n, length))?.matmul(&values)?;
        attention_mass.add(&weights, &values, &mixed)?;
        *cache = Some(KeysValues { keys, values });
        let mixed = mixed.reshape((n_heads, n, head_dim))?.transpose(0, 1)?.contiguous()?.reshape((n, n_heads * head_dim))?;
        self.attention_output.project(&mixed)
    }

    /// SwiGLU: down(silu(gate x) * up x), `[n, dim]` -> `[n, dim]`; or GEGLU.
    fn feed_forward(&self, gate: Gate, x: &Tensor) -> Result<Tensor> {
        let gated = match gate {
            Gate::Silu => silu(&self.gate.project(x)?)?,
            Gate::Gelu => self.gate.project(x)?.gelu()?,
        };
        self.down.project(&(gated * self.up.project(x)?)?)
    }
}

/// RMSNorm, where there is one.
fn normalize(x: &Tensor, weight: Option<&Tensor>, epsilon: f64) -> Result<Tensor> {
    weight.map_or_else(|| Ok(x.clone()), |weight| rms_norm(x, weight, epsilon as f32))
}

/// `[n, heads * head_dim]` -> `[heads, n, head_dim]`, all heads or each normalized where the model does so.
fn split_heads(projected: &Tensor, heads: usize, norm: Option<&Tensor>, config: &Config) -> Result<Tensor> {
    let is_whole = config.architecture.qk_norm == QkNorm::Whole;
    let whole = normalize(projected, norm.filter(|_| is_whole), config.norm_epsilon)?;
    let split = whole.reshape((projected.dim(0)?, heads, config.head_dim))?;
    normalize(&split, norm.filter(|_| !is_whole), config.norm_epsilon)?.transpose(0, 1)?.contiguous()
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
fn causal_mask(n: usize, length: usize, window: Option<usize>) -> Result<Tensor> {
    let (past, window) = (length - n, window.unwrap_or(length));
    let is_seen = move |i: usize, j: usize| j <= past + i && past + i - j < window;
    let mask = (0..n).flat_map(|i| (0..length).map(move |j| if is_seen(i, j) { 0.0 } else { f32::NEG_INFINITY }));
    Tensor::from_vec(mask.collect::<Vec<_>>(), (1, n, length), &Device::Cpu)
}
