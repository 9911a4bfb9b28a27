//! Small random models of every architecture, as GGUF files. `tests/golden/architectures.py` and `families.py` create the same models.

#![allow(dead_code, reason = "every test file uses another part")]

use std::io::Cursor;

use candle_core::quantized::ggml_file::qtensor_from_ggml;
use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use glasscage::model::arch::{self, Architecture, QkNorm, Recurrent};
use glasscage::rng::Rng;
use sha2::{Digest, Sha256};

const VOCAB: usize = 97;
const DIM: usize = 256;
const FFN: usize = 512;
const LAYERS: usize = 2;
const CONTEXT: usize = 128;
/// Larger than in real models, so that tests notice if it is ignored.
const NORM_EPSILON: f32 = 0.001;

/// A meaningless text.
pub const TOKENS: [u32; 72] = {
    let mut tokens = [0; 72];
    let mut t = 0;
    while t < tokens.len() {
        tokens[t] = ((5 * t * t * t + 11 * t + 3) % VOCAB) as u32;
        t += 1;
    }
    tokens
};

/// Properties of a random model.
pub struct Shape {
    pub name: &'static str,
    pub architecture: &'static str,
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    /// Whether the embedding is also the LM head.
    pub tied: bool,
    pub rope_base: f32,
    /// Whether it has a tensor `rope_freqs.weight`, like Llama 3.
    pub rope_factors: bool,
    pub layers: usize,
    /// Additional metadata of the architecture.
    pub settings: &'static [(&'static str, Setting)],
}

/// A metadata value.
pub enum Setting {
    Number(u32),
    Float(f32),
    Text(&'static str),
    Flags(&'static [bool]),
    Numbers(&'static [u32]),
}

/// Granite's scales.
const SCALES: &[(&str, Setting)] = &[
    ("embedding_scale", Setting::Float(6.0)),
    ("residual_scale", Setting::Float(0.25)),
    ("attention.scale", Setting::Float(0.0625)),
    ("logit_scale", Setting::Float(3.0)),
];
/// Every sixth layer has no window.
const WINDOW: &[(&str, Setting)] = &[("attention.sliding_window", Setting::Number(17)), ("rope.freq_base_swa", Setting::Float(5e3))];
const WINDOW_BY_FLAGS: &[(&str, Setting)] = &[
    ("attention.sliding_window", Setting::Number(9)),
    ("attention.sliding_window_pattern", Setting::Flags(&[true, false, true])),
    ("rope.scaling.type", Setting::Text("linear")),
    ("rope.scaling.factor", Setting::Float(8.0)),
];

/// Key-value heads per layer; 0 for layers with a convolution.
const KV_HEADS: &[u32] = &[0, 0, 2, 0, 2];
const CONVOLUTIONS: &[(&str, Setting)] =
    &[("attention.head_count_kv", Setting::Numbers(KV_HEADS)), ("shortconv.l_cache", Setting::Number(3))];

/// Every fourth layer has attention.
const DELTA_NET: &[(&str, Setting)] = &[
    ("ssm.conv_kernel", Setting::Number(4)),
    ("ssm.state_size", Setting::Number(16)),
    ("ssm.group_count", Setting::Number(2)),
    ("ssm.time_step_rank", Setting::Number(6)),
    ("ssm.inner_size", Setting::Number(96)),
    ("rope.dimension_count", Setting::Number(16)),
];
/// Also has a layer that predicts the token after the next.
const DELTA_NET_BY_FLAGS: &[(&str, Setting)] = &[
    ("ssm.conv_kernel", Setting::Number(4)),
    ("ssm.state_size", Setting::Number(24)),
    ("ssm.group_count", Setting::Number(3)),
    ("ssm.time_step_rank", Setting::Number(3)),
    ("ssm.inner_size", Setting::Number(72)),
    ("rope.dimension_count", Setting::Number(8)),
    ("attention.recurrent_layers", Setting::Flags(&[false, true, false])),
    ("block_count", Setting::Number(3)),
    ("nextn_predict_layers", Setting::Number(1)),
];

pub const SHAPES: &[Shape] = &[
    shape("llama", "llama", [4, 2, 64], false, 1e4),
    shape("llama, tied", "llama", [8, 2, 32], true, 1e4),
    Shape { rope_factors: true, ..shape("llama, rope factors", "llama", [4, 1, 64], true, 5e5) },
    shape("qwen2", "qwen2", [4, 2, 64], false, 1e6),
    shape("qwen2, tied", "qwen2", [8, 2, 32], true, 1e6),
    // The only architecture with heads whose total width may differ from the residual stream.
    shape("qwen3", "qwen3", [6, 3, 40], false, 1e6),
    shape("qwen3, tied", "qwen3", [4, 2, 48], true, 1e4),
    Shape { settings: SCALES, ..shape("granite", "granite", [4, 2, 64], true, 1e4) },
    Shape { layers: 4, ..shape("smollm3", "smollm3", [8, 2, 32], true, 5e6) },
    shape("olmo2", "olmo2", [4, 2, 64], false, 5e5),
    Shape { settings: WINDOW, layers: 6, ..shape("gemma3", "gemma3", [4, 1, 64], true, 1e6) },
    Shape { settings: WINDOW_BY_FLAGS, layers: 3, ..shape("gemma3, scaled", "gemma3", [4, 2, 80], true, 1e6) },
    Shape { settings: CONVOLUTIONS, layers: 5, ..shape("lfm2", "lfm2", [4, 2, 64], true, 1e6) },
    Shape { settings: DELTA_NET, layers: 5, ..shape("qwen35", "qwen35", [4, 2, 64], true, 1e5) },
    Shape { settings: DELTA_NET_BY_FLAGS, layers: 2, ..shape("qwen35, other layers", "qwen35", [4, 1, 32], false, 1e5) },
];

/// `sizes`: query heads, key-value heads, values per head.
const fn shape(name: &'static str, architecture: &'static str, sizes: [usize; 3], tied: bool, rope_base: f32) -> Shape {
    let [heads, kv_heads, head_dim] = sizes;
    Shape { name, architecture, heads, kv_heads, head_dim, tied, rope_base, rope_factors: false, layers: LAYERS, settings: &[] }
}

impl Shape {
    fn has_attention(&self, layer: usize) -> bool {
        match arch::by_name(self.architecture).unwrap().recurrent {
            Recurrent::None => true,
            Recurrent::ShortConvolution => KV_HEADS[layer] > 0,
            Recurrent::DeltaNet if self.tied => (layer + 1).is_multiple_of(4),
            Recurrent::DeltaNet => layer == 0,
        }
    }
}

/// Random numbers that are the same on every machine.
pub struct Random(pub Rng);

impl Random {
    /// Uniform in [-1, 1).
    fn next(&mut self) -> f32 {
        (2.0 * self.0.uniform() - 1.0) as f32
    }

    /// Random blocks with subnormal f16 numbers at the byte offsets `halves`.
    fn subnormal_blocks(&mut self, count: usize, block_bytes: usize, halves: &[usize]) -> Vec<u8> {
        let mut blocks = Vec::with_capacity(count * block_bytes);
        for _ in 0..count {
            let start = blocks.len();
            blocks.extend((0..block_bytes.div_ceil(8)).flat_map(|_| self.0.next_u64().to_le_bytes()).take(block_bytes));
            halves.iter().for_each(|half| blocks[start + half + 1] &= 0x83);
        }
        blocks
    }

    /// A tensor, rows first. Its values keep activations near 1, and norms are near 1. Rope factors rise from 1 in steps of 1/4.
    pub fn tensor(&mut self, name: &str, dims: &[usize]) -> Tensor {
        let columns = *dims.last().unwrap() as f32;
        let mut value = |i: usize| match name {
            "rope_freqs.weight" => 1.0 + i.saturating_sub(3) as f32 / 4.0,
            _ if name.ends_with("norm.weight") => 1.0 + 0.3 * self.next(),
            // Negative, so that the recurrent state decays.
            _ if name.ends_with("ssm_a") => (self.next() - 1.0) / 8.0,
            _ => self.next() * (6.0 / columns).sqrt(),
        };
        let values: Vec<f32> = (0..dims.iter().product()).map(&mut value).collect();
        Tensor::from_vec(values, dims, &Device::Cpu).unwrap()
    }
}

/// Names and shapes of all tensors of a model.
pub fn dimensions(shape: &Shape) -> Vec<(String, Vec<usize>)> {
    let architecture = arch::by_name(shape.architecture).unwrap();
    let mut dims = vec![("token_embd.weight".to_owned(), vec![VOCAB, DIM]), (architecture.last_norm.to_owned(), vec![DIM])];
    if !shape.tied {
        dims.push(("output.weight".into(), vec![VOCAB, DIM]));
    }
    if shape.rope_factors {
        dims.push(("rope_freqs.weight".into(), vec![shape.head_dim / 2]));
    }
    for i in 0..shape.layers {
        let mut layer = |part: &str, part_dims: &[usize]| dims.push((format!("blk.{i}.{part}"), part_dims.to_vec()));
        if architecture.norms_before() {
            layer("attn_norm.weight", &[DIM]);
            layer(architecture.ffn_norm, &[DIM]);
        }
        if architecture.norms_after() {
            layer("post_attention_norm.weight", &[DIM]);
            layer("post_ffw_norm.weight", &[DIM]);
        }
        if shape.has_attention(i) {
            attention(shape, architecture, &mut layer);
        } else if architecture.recurrent == Recurrent::ShortConvolution {
            layer("shortconv.in_proj.weight", &[3 * DIM, DIM]);
            layer("shortconv.conv.weight", &[DIM, 3]);
            layer("shortconv.out_proj.weight", &[DIM, DIM]);
        } else {
            delta_net(shape, &mut layer);
        }
        layer("ffn_gate.weight", &[FFN, DIM]);
        layer("ffn_up.weight", &[FFN, DIM]);
        layer("ffn_down.weight", &[DIM, FFN]);
    }
    if shape.settings.iter().any(|(key, _)| *key == "nextn_predict_layers") {
        dims.push((format!("blk.{}.attn_norm.weight", shape.layers), vec![DIM]));
        dims.push((format!("blk.{}.nextn.eh_proj.weight", shape.layers), vec![DIM, 2 * DIM]));
    }
    dims
}

fn delta_net(shape: &Shape, layer: &mut impl FnMut(&str, &[usize])) {
    let size = |field: &str| match shape.settings.iter().find(|(key, _)| *key == field) {
        Some((_, Setting::Number(number))) => *number as usize,
        _ => panic!("{field}"),
    };
    let (keys, heads, dim) = (size("ssm.group_count"), size("ssm.time_step_rank"), size("ssm.state_size"));
    let channels = (2 * keys + heads) * dim;
    layer("attn_qkv.weight", &[channels, DIM]);
    layer("attn_gate.weight", &[heads * dim, DIM]);
    layer("ssm_alpha.weight", &[heads, DIM]);
    layer("ssm_beta.weight", &[heads, DIM]);
    layer("ssm_conv1d.weight", &[channels, 4]);
    layer("ssm_dt.bias", &[heads]);
    layer("ssm_a", &[heads]);
    layer("ssm_norm.weight", &[dim]);
    layer("ssm_out.weight", &[DIM, heads * dim]);
}

fn attention(shape: &Shape, architecture: &Architecture, layer: &mut impl FnMut(&str, &[usize])) {
    let (q, kv) = (shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim);
    let rows_of_q = if architecture.gates_attention { 2 * q } else { q };
    for (part, rows) in [("attn_q", rows_of_q), ("attn_k", kv), ("attn_v", kv)] {
        layer(&format!("{part}.weight"), &[rows, DIM]);
        if architecture.qkv_bias {
            layer(&format!("{part}.bias"), &[rows]);
        }
    }
    let is_whole = architecture.qk_norm == QkNorm::Whole;
    if architecture.qk_norm != QkNorm::None {
        layer("attn_q_norm.weight", &[if is_whole { q } else { shape.head_dim }]);
        layer("attn_k_norm.weight", &[if is_whole { kv } else { shape.head_dim }]);
    }
    layer("attn_output.weight", &[DIM, q]);
}

/// Names and f32 values of all tensors of a model.
fn tensors(shape: &Shape) -> Vec<(String, Tensor)> {
    let mut random = Random(Rng::new(7));
    dimensions(shape).into_iter().map(|(name, dims)| (name.clone(), random.tensor(&name, &dims))).collect()
}

/// Types that the matrices use in turn, and the byte offsets of the f16 numbers in a block.
const SUBNORMAL_TYPES: [(GgmlDType, &[usize]); 3] = [(GgmlDType::Q8_0, &[0]), (GgmlDType::Q4K, &[0, 2]), (GgmlDType::Q6K, &[208])];

/// A GGUF file whose matrices are random blocks with subnormal f16 numbers, and whose norms are larger to compensate. Also returns the
/// SHA-256 of its weights.
pub fn subnormal_file(shape: &Shape) -> (Vec<u8>, String) {
    let (mut random, mut hash, mut types) = (Random(Rng::new(7)), Sha256::new(), SUBNORMAL_TYPES.iter().cycle());
    let mut tensors = Vec::new();
    for (name, dims) in dimensions(shape) {
        let (dtype, bytes) = if dims.len() == 1 {
            let values = (random.tensor(&name, &dims) * 8.0).unwrap().to_vec1::<f32>().unwrap();
            (GgmlDType::F32, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
        } else {
            let &(dtype, halves) = types.next().unwrap();
            (dtype, random.subnormal_blocks(dims.iter().product::<usize>() / dtype.block_size(), dtype.type_size(), halves))
        };
        hash.update(&bytes);
        tensors.push((name, qtensor_from_ggml(dtype, &bytes, dims, &Device::Cpu).unwrap()));
    }
    (write(shape, &tensors), format!("{:x}", hash.finalize()))
}

/// SHA-256 of all values as little-endian f32, tensor by tensor.
pub fn sha256(shape: &Shape) -> String {
    let mut hash = Sha256::new();
    for (_, tensor) in tensors(shape) {
        let values = tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        hash.update(values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
    }
    format!("{:x}", hash.finalize())
}

/// A GGUF file whose matrices have the type `dtype` if whole blocks fit. All other tensors are f32.
pub fn file(shape: &Shape, dtype: GgmlDType) -> Vec<u8> {
    write(shape, &quantize(&tensors(shape), dtype))
}

/// The weights of `file`, in f32.
pub fn expanded_file(shape: &Shape, dtype: GgmlDType) -> Vec<u8> {
    let quantized = quantize(&tensors(shape), dtype);
    let f32s: Vec<_> = quantized.iter().map(|(name, tensor)| (name.clone(), tensor.dequantize(&Device::Cpu).unwrap())).collect();
    write(shape, &quantize(&f32s, GgmlDType::F32))
}

fn quantize(tensors: &[(String, Tensor)], dtype: GgmlDType) -> Vec<(String, QTensor)> {
    let kind = |tensor: &Tensor| {
        let whole_blocks = tensor.dims().last().unwrap().is_multiple_of(dtype.block_size());
        if tensor.rank() == 2 && whole_blocks { dtype } else { GgmlDType::F32 }
    };
    tensors.iter().map(|(name, tensor)| (name.clone(), QTensor::quantize(tensor, kind(tensor)).unwrap())).collect()
}

pub fn write(shape: &Shape, tensors: &[(String, QTensor)]) -> Vec<u8> {
    let name = shape.architecture;
    let number = |number: usize| Value::U32(number as u32);
    let mut knobs = vec![
        ("general.architecture".to_owned(), Value::String(name.into())),
        ("general.dtype".into(), Value::U32(0)),
        (format!("{name}.block_count"), number(shape.layers)),
        (format!("{name}.embedding_length"), number(DIM)),
        (format!("{name}.feed_forward_length"), number(FFN)),
        (format!("{name}.attention.head_count"), number(shape.heads)),
        (format!("{name}.attention.head_count_kv"), number(shape.kv_heads)),
        (format!("{name}.attention.key_length"), number(shape.head_dim)),
        (format!("{name}.rope.dimension_count"), number(shape.head_dim)),
        (format!("{name}.context_length"), number(CONTEXT)),
        (format!("{name}.attention.layer_norm_rms_epsilon"), Value::F32(NORM_EPSILON)),
        (format!("{name}.rope.freq_base"), Value::F32(shape.rope_base)),
    ];
    let settings: Vec<(String, Value)> = shape.settings.iter().map(|(key, setting)| (format!("{name}.{key}"), value(setting))).collect();
    knobs.retain(|(key, _)| settings.iter().all(|setting| setting.0 != *key));
    knobs.extend(settings);
    let metadata: Vec<(&str, &Value)> = knobs.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    let mut bytes = Cursor::new(Vec::new());
    gguf_file::write(&mut bytes, &metadata, &tensors).unwrap();
    bytes.into_inner()
}

fn value(setting: &Setting) -> Value {
    match setting {
        &Setting::Number(number) => Value::U32(number),
        &Setting::Float(number) => Value::F32(number),
        &Setting::Text(text) => Value::String(text.into()),
        Setting::Numbers(numbers) => Value::Array(numbers.iter().map(|&number| Value::U32(number)).collect()),
        Setting::Flags(flags) => Value::Array(flags.iter().map(|&flag| Value::Bool(flag)).collect()),
    }
}
