//! Gated DeltaNet (Yang et al. 2024, arXiv 2412.06464): a recurrent state instead of attention, as in Qwen 3.5.
//!
//! Each value head has a state S, `[head_dim of the key, head_dim of the value]`, which is zero before the text. Each token decays the
//! state, and moves its output for the token's key toward the token's value:
//!
//! ```text
//! q, k, v = silu(conv(W_qkv x)), q and k of length 1, q / sqrt(head_dim)
//! decay = exp(a softplus(W_alpha x + dt)),  beta = sigmoid(W_beta x)
//! S <- decay S;  S <- S + k (beta (v - S^T k))^T;  o = S^T q
//! y = W_out (norm(o) * silu(W_gate x))
//! ```

use candle_core::{Device, Result, Tensor};
use candle_nn::ops::rms_norm;

use super::cache::{LayerCache, Memory};
use super::convolution::Convolution;
use super::exponentials::silu;
use super::weight::Weight;
use super::weights::Weights;
use crate::lm::blocks::blocks;
use glasscage_model::config::{Config, DeltaNet as Sizes, Recurrence};

/// Number of tokens that are replayed together.
const CHUNK: usize = 32;
/// Added to the squared length of queries and keys (transformers, `models/qwen3_5`).
const LENGTH_EPSILON: f32 = 1e-6;

pub struct DeltaNet {
    sizes: Sizes,
    qkv: Weight,
    alpha: Weight,
    beta: Weight,
    gate: Weight,
    convolution: Convolution,
    /// One value per value head.
    dt: Vec<f32>,
    a: Vec<f32>,
    /// `[head_dim]`.
    norm: Tensor,
    norm_epsilon: f32,
    output: Weight,
}

/// Projected inputs of some tokens.
struct Tokens {
    /// `[n, channels]`: queries, keys and values of all heads.
    qkv: Vec<f32>,
    /// `[n, alpha and beta, n_value_heads]`, before any function is applied.
    rates: Vec<f32>,
}

impl DeltaNet {
    /// Takes the weights of layer `i`.
    pub fn new(config: &Config, recurrence: &Recurrence, sizes: Sizes, i: usize, weights: &mut Weights) -> Result<Self> {
        let mut matrix = |part: &str| weights.matrix(&format!("blk.{i}.{part}"));
        Ok(Self {
            sizes,
            qkv: matrix("attn_qkv.weight")?,
            alpha: matrix("ssm_alpha.weight")?,
            beta: matrix("ssm_beta.weight")?,
            gate: matrix("attn_gate.weight")?,
            convolution: Convolution::new(&matrix("ssm_conv1d.weight")?, recurrence.taps)?,
            dt: matrix("ssm_dt.bias")?.values()?.to_vec1()?,
            a: matrix("ssm_a")?.values()?.to_vec1()?,
            norm: matrix("ssm_norm.weight")?.values()?,
            norm_epsilon: config.norm_epsilon as f32,
            output: matrix("ssm_out.weight")?,
        })
    }

    /// `[n, dim]` -> `[n, dim]`, after the text in the cache. Adds x to the cache.
    pub fn forward(&self, x: &Tensor, cache: &mut LayerCache) -> Result<Tensor> {
        let (n, Sizes { n_value_heads, head_dim, .. }) = (x.dim(0)?, self.sizes);
        cache.keep_inputs(x)?;
        let mut read = vec![0.0; n * self.sizes.value_width()];
        self.update(x, cache, Some(&mut read))?;
        let read = Tensor::from_vec(read, (n * n_value_heads, head_dim), &Device::Cpu)?;
        let normalized = rms_norm(&read, &self.norm, self.norm_epsilon)?.reshape((n, self.sizes.value_width()))?;
        self.output.project(&(normalized * silu(&self.gate.project(x)?)?)?)
    }

    /// The cache of the first `tokens` tokens of a text whose cache keeps all. Continues from the last whole chunk before, and keeps that
    /// chunk's state for later calls. So the result does not depend on earlier calls.
    pub fn prefix(&self, tokens: usize, all: &mut LayerCache) -> Result<LayerCache> {
        let whole = tokens / CHUNK * CHUNK;
        let mut replayed = all.replayed.take().filter(|replayed| replayed.remembered() <= whole).unwrap_or_default();
        let Some(inputs) = &all.inputs else { return Ok(*replayed) };
        for chunk in blocks(replayed.remembered()..whole, CHUNK) {
            self.update(&inputs.rows().narrow(0, chunk.start, chunk.len())?, &mut replayed, None)?;
        }
        let mut prefix = (*replayed).clone();
        if tokens > whole {
            self.update(&inputs.rows().narrow(0, whole, tokens - whole)?, &mut prefix, None)?;
        }
        all.replayed = Some(replayed);
        Ok(prefix)
    }

    /// Updates the recurrent state of a cache with tokens. Writes their outputs to `read`, `[n, value_width]`.
    fn update(&self, x: &Tensor, cache: &mut LayerCache, read: Option<&mut Vec<f32>>) -> Result<()> {
        let rates = Tensor::cat(&[self.alpha.project(x)?, self.beta.project(x)?], 1)?;
        let convolved = self.convolution.forward(&self.qkv.project(x)?, cache, false)?;
        let mut memory = cache.memory.take().unwrap_or_else(|| self.empty());
        self.run(&Tokens::new(&convolved, &rates)?, &mut memory, read);
        cache.memory = Some(memory);
        Ok(())
    }

    fn empty(&self) -> Memory {
        Memory { tokens: 0, states: vec![0.0; self.sizes.value_width() * self.sizes.head_dim] }
    }

    /// Updates the state with tokens. Writes their outputs to `read`, `[n, value_width]`.
    fn run(&self, tokens: &Tokens, memory: &mut Memory, mut read: Option<&mut Vec<f32>>) {
        let (channels, width, n_heads) = (self.sizes.channels(), self.sizes.value_width(), self.sizes.n_value_heads);
        for (t, (qkv, rates)) in tokens.qkv.chunks_exact(channels).zip(tokens.rates.chunks_exact(2 * n_heads)).enumerate() {
            let read = read.as_mut().map(|read| &mut read[t * width..(t + 1) * width]);
            self.step(qkv, rates, &mut memory.states, read);
            memory.tokens += 1;
        }
    }

    fn step(&self, qkv: &[f32], rates: &[f32], states: &mut [f32], mut read: Option<&mut [f32]>) {
        let Sizes { n_key_heads, n_value_heads, head_dim } = self.sizes;
        let (queries, rest) = qkv.split_at(n_key_heads * head_dim);
        let (keys, values) = rest.split_at(n_key_heads * head_dim);
        let unit = |heads: &[f32], h: usize| -> Vec<f32> {
            let head = &heads[h * head_dim..(h + 1) * head_dim];
            let length = (head.iter().map(|x| x * x).sum::<f32>() + LENGTH_EPSILON).sqrt();
            head.iter().map(|x| x / length).collect()
        };
        let units: Vec<[Vec<f32>; 2]> = (0..n_key_heads).map(|h| [unit(queries, h), unit(keys, h)]).collect();
        let (alphas, betas) = rates.split_at(n_value_heads);
        let mut update = vec![0.0; head_dim];
        for (h, state) in states.chunks_exact_mut(head_dim * head_dim).enumerate() {
            let [q, k] = &units[h % n_key_heads];
            let decay = (self.a[h] * softplus(alphas[h] + self.dt[h])).exp();
            let beta = 1.0 / (1.0 + (-betas[h]).exp());
            // The state's output for the key, before the decay.
            update.fill(0.0);
            for (row, k) in state.chunks_exact(head_dim).zip(k) {
                update.iter_mut().zip(row).for_each(|(sum, s)| *sum += k * s);
            }
            let value = &values[h * head_dim..(h + 1) * head_dim];
            update.iter_mut().zip(value).for_each(|(answer, v)| *answer = beta * (v - decay * *answer));
            for (row, k) in state.chunks_exact_mut(head_dim).zip(k) {
                row.iter_mut().zip(&update).for_each(|(s, u)| *s = decay * *s + k * u);
            }
            let Some(read) = read.as_mut().map(|read| &mut read[h * head_dim..(h + 1) * head_dim]) else {
                continue;
            };
            for (row, q) in state.chunks_exact(head_dim).zip(q) {
                read.iter_mut().zip(row).for_each(|(sum, s)| *sum += q * s);
            }
            read.iter_mut().for_each(|sum| *sum /= (head_dim as f32).sqrt());
        }
    }
}

impl Tokens {
    fn new(convolved: &Tensor, rates: &Tensor) -> Result<Self> {
        let values = |tensor: &Tensor| tensor.flatten_all()?.to_vec1::<f32>();
        Ok(Self { qkv: values(&silu(convolved)?)?, rates: values(rates)? })
    }
}

/// ln(1 + exp(x)). Above 20 it is x: the difference, exp(-x), is less than f32 can resolve.
fn softplus(x: f32) -> f32 {
    if x > 20.0 { x } else { x.exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softplus_is_smooth_and_finite() {
        assert_eq!(softplus(1e30), 1e30);
        assert_eq!(softplus(-200.0), 0.0);
        for x in [-5.0, 0.0, 0.5, 19.9, 20.1] {
            assert!((f64::from(softplus(x)) - f64::from(x).exp().ln_1p()).abs() < 1e-5);
        }
    }
}
