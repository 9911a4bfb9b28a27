//! Attention over the current context.

use candle_core::{Result, Tensor};
use candle_nn::ops::sigmoid;
use candle_nn::rotary_emb::{rope, rope_i};

use super::attention_mass::AttentionMass;
use super::cache::{KeysValues, LayerCache};
use super::exponentials::causal_softmax;
use super::normalize::normalize;
use super::weight::Weight;
use super::weights::Weights;
use glasscage_model::arch::{QkNorm, Rope};
use glasscage_model::config::Config;

pub struct Attention {
    q: Projection,
    k: Projection,
    v: Projection,
    /// Norm over each head, `[head_dim]`, or over all heads together.
    q_norm: Option<Tensor>,
    k_norm: Option<Tensor>,
    output: Weight,
    /// Index of the rotation.
    rotation: usize,
    /// Number of keys in the window; `None` if rows attend to all earlier keys.
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

impl Attention {
    /// Takes the weights of layer `i`.
    pub fn new(config: &Config, i: usize, weights: &mut Weights) -> Result<Self> {
        let architecture = config.architecture;
        let name = |part: &str| format!("blk.{i}.{part}");
        let mut projection = |part: &str| {
            let weight = weights.matrix(&name(&format!("{part}.weight")))?;
            let bias = architecture.qkv_bias.then(|| weights.vector(&name(&format!("{part}.bias")))).transpose()?;
            Ok::<_, candle_core::Error>(Projection { weight, bias })
        };
        let (q, k, v) = (projection("attn_q")?, projection("attn_k")?, projection("attn_v")?);
        let mut norm = |part: &str| (architecture.qk_norm != QkNorm::None).then(|| weights.vector(&name(part))).transpose();
        Ok(Self {
            q,
            k,
            v,
            q_norm: norm("attn_q_norm.weight")?,
            k_norm: norm("attn_k_norm.weight")?,
            output: weights.matrix(&name("attn_output.weight"))?,
            rotation: config.rotation_of(i),
            window: config.window_of(i),
        })
    }

    /// Causal attention of `x` (`[n, dim]`) over the text in `cache` and `x` itself. Adds the new keys and values to the cache.
    pub fn forward(
        &self,
        config: &Config,
        x: &Tensor,
        angles: &[[Tensor; 2]],
        cache: &mut LayerCache,
        attention_mass: &mut AttentionMass,
    ) -> Result<Tensor> {
        let &Config { n_heads, n_kv_heads, head_dim, .. } = config;
        let (n, angles) = (x.dim(0)?, &angles[self.rotation]);
        let (q, gates) = self.queries(config, x)?;
        let q = rotate(&split_heads(&q, n_heads, self.q_norm.as_ref(), config)?, angles, config)?;
        let k = rotate(&split_heads(&self.k.forward(x)?, n_kv_heads, self.k_norm.as_ref(), config)?, angles, config)?;
        let v = split_heads(&self.v.forward(x)?, n_kv_heads, None, config)?;
        let keys_values = KeysValues::after(cache.keys_values.take(), &k, &v)?;
        let (keys, values) = (keys_values.keys.rows(), keys_values.values.rows());
        let length = keys.dim(1)?;
        // Heads that share keys are neighbors, so their queries become rows of one matrix per key head.
        let q = (q.reshape((n_kv_heads, n_heads / n_kv_heads * n, head_dim))? * config.attention_scale)?;
        let weights = causal_softmax(&q.matmul(&keys.t()?)?.reshape((n_heads, n, length))?, self.window)?;
        let mixed = weights.reshape((n_kv_heads, n_heads / n_kv_heads * n, length))?.matmul(values)?;
        attention_mass.add(&weights, values, &mixed)?;
        cache.keys_values = Some(keys_values);
        let mixed = mixed.reshape((n_heads, n, head_dim))?.transpose(0, 1)?.contiguous()?.reshape((n, n_heads * head_dim))?;
        match gates {
            Some(gates) => self.output.project(&(mixed * sigmoid(&gates)?)?),
            None => self.output.project(&mixed),
        }
    }

    /// Queries, and gates of the head outputs if the model has gates: `[n, n_heads * head_dim]`. In the file, the gate rows of each head
    /// follow its query rows.
    fn queries(&self, config: &Config, x: &Tensor) -> Result<(Tensor, Option<Tensor>)> {
        let &Config { n_heads, head_dim, .. } = config;
        let projected = self.q.forward(x)?;
        if !config.architecture.gates_attention {
            return Ok((projected, None));
        }
        let n = x.dim(0)?;
        let heads = projected.reshape((n, n_heads, 2 * head_dim))?;
        let part = |first: usize| heads.narrow(2, first, head_dim)?.contiguous()?.reshape((n, n_heads * head_dim));
        Ok((part(0)?, Some(part(head_dim)?)))
    }
}

/// `[n, heads * head_dim]` -> `[heads, n, head_dim]`. Normalizes all heads together, or each head, if the model does.
fn split_heads(projected: &Tensor, heads: usize, norm: Option<&Tensor>, config: &Config) -> Result<Tensor> {
    let is_whole = config.architecture.qk_norm == QkNorm::Whole;
    let whole = normalize(projected, norm.filter(|_| is_whole), config.norm_epsilon)?;
    let split = whole.reshape((projected.dim(0)?, heads, config.head_dim))?;
    normalize(&split, norm.filter(|_| !is_whole), config.norm_epsilon)?.transpose(0, 1)?.contiguous()
}

/// Applies the rotary embedding to `[heads, n, head_dim]`: to whole heads, or to the first `rotated_dim` values of each.
fn rotate(heads: &Tensor, angles: &[Tensor; 2], config: &Config) -> Result<Tensor> {
    let &Config { head_dim, rotated_dim, .. } = config;
    if rotated_dim == head_dim {
        return rotate_all(heads, angles, config);
    }
    let rotated = rotate_all(&heads.narrow(2, 0, rotated_dim)?.contiguous()?, angles, config)?;
    Tensor::cat(&[rotated, heads.narrow(2, rotated_dim, head_dim - rotated_dim)?], 2)
}

fn rotate_all(heads: &Tensor, [cos, sin]: &[Tensor; 2], config: &Config) -> Result<Tensor> {
    let batch = heads.unsqueeze(0)?;
    let rotated = match config.architecture.rope {
        Rope::Interleaved => rope_i(&batch, cos, sin),
        Rope::Halves => rope(&batch, cos, sin),
    };
    rotated?.squeeze(0)
}
