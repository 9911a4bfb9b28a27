//! Checks the tensors of a model by the file's header, before any weight is read.

use std::collections::{HashMap, HashSet};

use super::arch::{QkNorm, Recurrent};
use super::config::Config;
use super::gguf::{Gguf, Tensor};
use glasscage_message::ToMessage;

/// A tensor that a configuration needs.
struct Expected {
    name: String,
    /// Fastest axis first, as in the file.
    shape: Vec<usize>,
    is_optional: bool,
}

/// Why the tensors of a file do not form a model.
#[derive(Debug, thiserror::Error, ToMessage)]
pub enum TensorsError {
    #[error("the model has no tensor {0}")]
    Missing(String),
    #[error("tensor {name} has the shape {found:?} instead of {expected:?}")]
    Shape { name: String, found: Vec<usize>, expected: Vec<usize> },
    #[error("the model has a tensor {0} that this version does not know how to use")]
    Unused(String),
}

/// Checks that the file has every tensor in its shape, and no unknown tensor. An unread tensor would silently make every number wrong.
pub fn check(gguf: &Gguf, config: &Config) -> Result<(), TensorsError> {
    let expected = expected(config);
    // A map, because a header may have millions of tensors.
    let found: HashMap<&str, &Tensor> = gguf.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    for Expected { name, shape, is_optional } in &expected {
        match found.get(name.as_str()) {
            Some(tensor) if trimmed(tensor) != *shape => {
                return Err(TensorsError::Shape { name: name.clone(), found: tensor.shape.clone(), expected: shape.clone() });
            }
            None if !is_optional => return Err(TensorsError::Missing(name.clone())),
            _ => {}
        }
    }
    let known: HashSet<&str> = expected.iter().map(|known| known.name.as_str()).collect();
    let is_known = |name: &str| is_ignored(name, config) || known.contains(name);
    match gguf.tensors.iter().find(|tensor| !is_known(&tensor.name)) {
        Some(unused) => Err(TensorsError::Unused(unused.name.clone())),
        None => Ok(()),
    }
}

/// Whether the model ignores this tensor: tables of rotation angles in old files, which we compute, and layers that predict more than the
/// next token.
pub fn is_ignored(name: &str, config: &Config) -> bool {
    let unused = config.n_layers..config.n_layers + config.n_unused_layers;
    name.ends_with("rot_embd") || name.ends_with("rot_embd.weight") || layer_of(name).is_some_and(|layer| unused.contains(&layer))
}

/// Layer number in a tensor name: 4 in `blk.4.attn_q.weight`.
pub fn layer_of(name: &str) -> Option<usize> {
    name.strip_prefix("blk.")?.split('.').next()?.parse().ok()
}

/// The shape without trailing axes of length 1.
pub fn trimmed(tensor: &Tensor) -> Vec<usize> {
    let length = tensor.shape.iter().rposition(|&axis| axis != 1).map_or(1, |last| last + 1);
    tensor.shape.iter().copied().take(length).collect()
}

fn expected(config: &Config) -> Vec<Expected> {
    let &Config { dim, ffn_dim, vocab_size, head_dim, architecture, .. } = config;
    let mut all = Vec::new();
    let mut add = |name: String, shape: &[usize], is_optional| {
        // Files store a matrix of one row as a vector.
        let shape = if shape.len() == 2 && shape[1] == 1 { &shape[..1] } else { shape };
        all.push(Expected { name, shape: shape.to_vec(), is_optional });
    };
    add("token_embd.weight".into(), &[dim, vocab_size], false);
    add(architecture.last_norm.into(), &[dim], false);
    add("output.weight".into(), &[dim, vocab_size], true);
    add("rope_freqs.weight".into(), &[head_dim / 2], true);
    for i in 0..config.n_layers {
        let mut add = |part: &str, shape: &[usize]| add(format!("blk.{i}.{part}"), shape, false);
        if architecture.norms_before() {
            add("attn_norm.weight", &[dim]);
            add(architecture.ffn_norm, &[dim]);
        }
        if architecture.norms_after() {
            add("post_attention_norm.weight", &[dim]);
            add("post_ffw_norm.weight", &[dim]);
        }
        if config.has_attention(i) {
            add_attention(config, &mut add);
        } else {
            add_recurrent(config, &mut add);
        }
        add("ffn_gate.weight", &[dim, ffn_dim]);
        add("ffn_up.weight", &[dim, ffn_dim]);
        add("ffn_down.weight", &[ffn_dim, dim]);
    }
    all
}

fn add_attention(config: &Config, add: &mut impl FnMut(&str, &[usize])) {
    let &Config { dim, head_dim, n_heads, n_kv_heads, architecture, .. } = config;
    let n_gates = if architecture.gates_attention { n_heads } else { 0 };
    for (part, rows) in [("attn_q", n_heads + n_gates), ("attn_k", n_kv_heads), ("attn_v", n_kv_heads)] {
        add(&format!("{part}.weight"), &[dim, rows * head_dim]);
        if architecture.qkv_bias {
            add(&format!("{part}.bias"), &[rows * head_dim]);
        }
    }
    let normalized = |heads: usize| match architecture.qk_norm {
        QkNorm::None => None,
        QkNorm::Heads => Some(head_dim),
        QkNorm::Whole => Some(heads * head_dim),
    };
    for (part, heads) in [("attn_q", n_heads), ("attn_k", n_kv_heads)] {
        if let Some(length) = normalized(heads) {
            add(&format!("{part}_norm.weight"), &[length]);
        }
    }
    add("attn_output.weight", &[n_heads * head_dim, dim]);
}

fn add_recurrent(config: &Config, add: &mut impl FnMut(&str, &[usize])) {
    let &Config { dim, ref recurrence, architecture, .. } = config;
    let taps = recurrence.as_ref().map_or(0, |recurrence| recurrence.taps);
    match architecture.recurrent {
        Recurrent::None => {}
        Recurrent::ShortConvolution => {
            add("shortconv.in_proj.weight", &[dim, 3 * dim]);
            add("shortconv.conv.weight", &[taps, dim]);
            add("shortconv.out_proj.weight", &[dim, dim]);
        }
        Recurrent::DeltaNet => {
            let Some(net) = recurrence.as_ref().and_then(|recurrence| recurrence.delta_net) else {
                return;
            };
            let (n_heads, width) = (net.n_value_heads, net.value_width());
            add("attn_qkv.weight", &[dim, net.channels()]);
            add("attn_gate.weight", &[dim, width]);
            add("ssm_alpha.weight", &[dim, n_heads]);
            add("ssm_beta.weight", &[dim, n_heads]);
            add("ssm_conv1d.weight", &[taps, net.channels()]);
            add("ssm_dt.bias", &[n_heads]);
            add("ssm_a", &[n_heads]);
            add("ssm_norm.weight", &[net.head_dim]);
            add("ssm_out.weight", &[width, dim]);
        }
    }
}
