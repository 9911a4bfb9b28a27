//! `random_model --shape 0.6b [--quant Q8_0|Q4_K|Q6_K|F16] OUT.gguf` writes a model with random weights, to measure speed. `SHAPES` lists
//! the shapes. Sizes and tokenizer are real, but the output of the model is meaningless. The same call writes the same file.

#[path = "../models/vocabulary.rs"]
mod vocabulary;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Cursor};
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{self, Content, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use clap::Parser;
use glasscage::rng::Rng;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Writes a model with random weights.
#[derive(Parser)]
struct Arguments {
    /// 42m, 135m, 0.6b, 0.8b, 1b, lfm2-350m, lfm2-small or qwen35-small
    #[arg(long)]
    shape: String,
    /// Tensor type of the matrices: `Q8_0`, `Q4_K`, `Q6_K` or F16
    #[arg(long, default_value = "Q8_0")]
    quant: String,
    out: PathBuf,
}

/// Sizes, as in the GGUF metadata.
struct Shape {
    name: &'static str,
    mixers: Mixers,
    layers: usize,
    dim: usize,
    ffn: usize,
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
}

/// How layers mix rows. Determines the architecture.
enum Mixers {
    /// `qwen3`
    Attention,
    /// `lfm2`: convolutions of three taps in all layers except these.
    Convolutions { attention: &'static [usize] },
    /// `qwen35`: recurrent layers with this number of heads of 128 values. Every fourth layer has attention.
    RecurrentStates { heads: usize },
}

/// All shapes have the tokens of Qwen 3 and use the embedding as LM head. The layers of 135m are those of SmolLM2-135M, those of 1b of
/// Llama-3.2-1B; 0.6b is Qwen3-0.6B. The layers and the number of tokens of 0.8b are those of Qwen3.5-0.8B, the layers of lfm2-350m those
/// of LFM2-350M. Each small shape has a quarter of the width.
const SHAPES: [Shape; 8] = [
    shape("42m", 8, [256, 256], [4, 2, 64], Mixers::Attention),
    shape("135m", 30, [576, 1536], [9, 3, 64], Mixers::Attention),
    shape("0.6b", 28, [1024, 3072], [16, 8, 128], Mixers::Attention),
    shape("1b", 16, [2048, 8192], [32, 8, 64], Mixers::Attention),
    shape("0.8b", 24, [1024, 3584], [8, 2, 256], Mixers::RecurrentStates { heads: 16 }),
    shape("qwen35-small", 8, [256, 896], [2, 1, 256], Mixers::RecurrentStates { heads: 4 }),
    shape("lfm2-350m", 16, [1024, 4608], [16, 8, 64], Mixers::Convolutions { attention: &[2, 5, 8, 10, 12, 14] }),
    shape("lfm2-small", 8, [256, 1152], [4, 2, 64], Mixers::Convolutions { attention: &[2, 4, 6] }),
];

/// Arguments: `[width, width of feed-forward networks]` and `[query heads, key-value heads, values per head]`.
const fn shape(
    name: &'static str,
    layers: usize,
    [dim, ffn]: [usize; 2],
    [heads, kv_heads, head_dim]: [usize; 3],
    mixers: Mixers,
) -> Shape {
    Shape { name, mixers, layers, dim, ffn, heads, kv_heads, head_dim }
}

impl Shape {
    fn architecture(&self) -> &'static str {
        match self.mixers {
            Mixers::Attention => "qwen3",
            Mixers::Convolutions { .. } => "lfm2",
            Mixers::RecurrentStates { .. } => "qwen35",
        }
    }

    fn has_attention(&self, layer: usize) -> bool {
        match self.mixers {
            Mixers::Attention => true,
            Mixers::Convolutions { attention } => attention.contains(&layer),
            Mixers::RecurrentStates { .. } => (layer + 1).is_multiple_of(4),
        }
    }

    /// Metadata of the layers without attention.
    fn settings(&self) -> Vec<(&'static str, Value)> {
        let number = |number: usize| Value::U32(number as u32);
        match self.mixers {
            Mixers::Attention => Vec::new(),
            Mixers::Convolutions { .. } => {
                let heads = |layer| number(if self.has_attention(layer) { self.kv_heads } else { 0 });
                let by_layer = Value::Array((0..self.layers).map(heads).collect());
                vec![("attention.head_count_kv", by_layer), ("shortconv.l_cache", number(TAPS))]
            }
            Mixers::RecurrentStates { heads } => vec![
                ("ssm.conv_kernel", number(CONV_TAPS)),
                ("ssm.state_size", number(STATE_DIM)),
                ("ssm.group_count", number(heads)),
                ("ssm.time_step_rank", number(heads)),
                ("ssm.inner_size", number(heads * STATE_DIM)),
                ("full_attention_interval", number(4)),
                ("rope.dimension_count", number(self.head_dim / 4)),
            ],
        }
    }
}

const TAPS: usize = 3;
const CONV_TAPS: usize = 4;
/// Values per recurrent head.
const STATE_DIM: usize = 128;
/// Vocabulary size of Qwen 3.5.
const TOKENS_OF_0_8B: usize = 248_320;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let shape = SHAPES.iter().find(|shape| shape.name == arguments.shape).ok_or("--shape: see --help")?;
    let dtype = match arguments.quant.as_str() {
        "Q8_0" => GgmlDType::Q8_0,
        "Q4_K" => GgmlDType::Q4K,
        "Q6_K" => GgmlDType::Q6K,
        "F16" => GgmlDType::F16,
        other => return Err(format!("--quant {other}: Q8_0, Q4_K, Q6_K or F16").into()),
    };
    let metadata = metadata(shape)?;
    let n_tokens = match &metadata["tokenizer.ggml.tokens"] {
        Value::Array(tokens) => tokens.len(),
        _ => return Err("the vocabulary is no list".into()),
    };
    let tensors = tensors(shape, n_tokens, dtype)?;
    let parameters: usize = tensors.iter().map(|(_, tensor)| tensor.shape().elem_count()).sum();
    write(&arguments.out, &metadata, &tensors)?;
    let bytes = arguments.out.metadata()?.len();
    println!("{}: {parameters} parameters, {} of them embedding, {bytes} bytes", arguments.out.display(), n_tokens * shape.dim);
    Ok(())
}

/// Tokenizer and chat template of a real Qwen 3, with the sizes of `shape`.
fn metadata(shape: &Shape) -> Result<HashMap<String, Value>> {
    let mut metadata = Content::read(&mut Cursor::new(vocabulary::vocabulary("qwen3")))?.metadata;
    if shape.name == "0.8b" {
        add_tokens(&mut metadata);
    }
    let architecture = shape.architecture();
    let mut number = |key: &str, number: usize| metadata.insert(format!("{architecture}.{key}"), Value::U32(number as u32));
    number("block_count", shape.layers);
    number("context_length", 4096);
    number("embedding_length", shape.dim);
    number("feed_forward_length", shape.ffn);
    number("attention.head_count", shape.heads);
    number("attention.head_count_kv", shape.kv_heads);
    number("attention.key_length", shape.head_dim);
    number("attention.value_length", shape.head_dim);
    metadata.insert(format!("{architecture}.attention.layer_norm_rms_epsilon"), Value::F32(1e-6));
    metadata.insert(format!("{architecture}.rope.freq_base"), Value::F32(1e6));
    metadata.extend(shape.settings().into_iter().map(|(key, value)| (format!("{architecture}.{key}"), value)));
    metadata.insert("general.architecture".into(), Value::String(architecture.into()));
    metadata.insert("general.name".into(), Value::String(format!("random {}", shape.name)));
    Ok(metadata)
}

/// Adds unused tokens up to the vocabulary size of Qwen 3.5.
fn add_tokens(metadata: &mut HashMap<String, Value>) {
    // llama.cpp, include/llama.h: LLAMA_TOKEN_TYPE_UNUSED.
    for (key, unused) in [("tokenizer.ggml.tokens", None), ("tokenizer.ggml.token_type", Some(Value::I32(5)))] {
        if let Some(Value::Array(values)) = metadata.get_mut(key) {
            let more = values.len()..TOKENS_OF_0_8B;
            values.extend(more.map(|i| unused.clone().unwrap_or_else(|| Value::String(format!("<|unused {i}|>")))));
        }
    }
}

/// All tensors, quantized one at a time, so that only one is in memory as f32.
fn tensors(shape: &Shape, n_tokens: usize, dtype: GgmlDType) -> Result<Vec<(String, QTensor)>> {
    let mut random = Random(Rng::new(7));
    let mut tensors = Vec::new();
    for (name, dims) in dims(shape, n_tokens) {
        let tensor = random.tensor(&name, &dims)?;
        tensors.push((name, QTensor::quantize(&tensor, kind(&dims, dtype))?));
    }
    Ok(tensors)
}

/// Type of a tensor. A row that does not divide into whole blocks gets a type with smaller blocks, as in llama.cpp.
fn kind(dims: &[usize], dtype: GgmlDType) -> GgmlDType {
    match dims {
        [_, columns] if columns.is_multiple_of(dtype.block_size()) => dtype,
        [_, columns] if columns.is_multiple_of(GgmlDType::Q8_0.block_size()) => GgmlDType::Q8_0,
        _ => GgmlDType::F32,
    }
}

/// Names and dimensions of all tensors, rows first.
fn dims(shape: &Shape, n_tokens: usize) -> Vec<(String, Vec<usize>)> {
    let &Shape { dim, ffn, .. } = shape;
    let [last_norm, ffn_norm] = match shape.mixers {
        Mixers::Attention => ["output_norm", "ffn_norm"],
        Mixers::Convolutions { .. } => ["token_embd_norm", "ffn_norm"],
        Mixers::RecurrentStates { .. } => ["output_norm", "post_attention_norm"],
    };
    let mut dims = vec![("token_embd.weight".to_owned(), vec![n_tokens, dim]), (format!("{last_norm}.weight"), vec![dim])];
    for i in 0..shape.layers {
        let mut layer = vec![("attn_norm.weight", vec![dim])];
        layer.extend(if shape.has_attention(i) { attention(shape) } else { mixer(shape) });
        dims.extend(layer.into_iter().map(|(part, part_dims)| (format!("blk.{i}.{part}"), part_dims)));
        let feed_forward = [(ffn_norm, vec![dim]), ("ffn_gate", vec![ffn, dim]), ("ffn_up", vec![ffn, dim]), ("ffn_down", vec![dim, ffn])];
        dims.extend(feed_forward.into_iter().map(|(part, part_dims)| (format!("blk.{i}.{part}.weight"), part_dims)));
    }
    dims
}

fn attention(shape: &Shape) -> Vec<(&'static str, Vec<usize>)> {
    let &Shape { dim, head_dim, .. } = shape;
    let (q, kv) = (shape.heads * head_dim, shape.kv_heads * head_dim);
    let gates = if matches!(shape.mixers, Mixers::RecurrentStates { .. }) { q } else { 0 };
    vec![
        ("attn_q.weight", vec![q + gates, dim]),
        ("attn_k.weight", vec![kv, dim]),
        ("attn_v.weight", vec![kv, dim]),
        ("attn_q_norm.weight", vec![head_dim]),
        ("attn_k_norm.weight", vec![head_dim]),
        ("attn_output.weight", vec![dim, q]),
    ]
}

/// Tensors of a layer without attention.
fn mixer(shape: &Shape) -> Vec<(&'static str, Vec<usize>)> {
    let dim = shape.dim;
    let Mixers::RecurrentStates { heads } = shape.mixers else {
        return vec![
            ("shortconv.in_proj.weight", vec![3 * dim, dim]),
            ("shortconv.conv.weight", vec![dim, TAPS]),
            ("shortconv.out_proj.weight", vec![dim, dim]),
        ];
    };
    let width = heads * STATE_DIM;
    vec![
        ("attn_qkv.weight", vec![3 * width, dim]),
        ("attn_gate.weight", vec![width, dim]),
        ("ssm_alpha.weight", vec![heads, dim]),
        ("ssm_beta.weight", vec![heads, dim]),
        ("ssm_conv1d.weight", vec![3 * width, CONV_TAPS]),
        ("ssm_dt.bias", vec![heads]),
        ("ssm_a", vec![heads]),
        ("ssm_norm.weight", vec![STATE_DIM]),
        ("ssm_out.weight", vec![dim, width]),
    ]
}

fn write(out: &Path, metadata: &HashMap<String, Value>, tensors: &[(String, QTensor)]) -> Result<()> {
    let mut metadata: Vec<(&str, &Value)> = metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    metadata.sort_by_key(|(key, _)| *key);
    let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    // Rename the file at the end, because later runs use an existing file as complete. Another process may write the same file.
    let part = out.with_extension(format!("{}.part", std::process::id()));
    gguf_file::write(&mut BufWriter::new(File::create(&part)?), &metadata, &tensors)?;
    std::fs::rename(part, out)?;
    Ok(())
}

/// Pseudorandom numbers that are the same on every machine.
struct Random(Rng);

impl Random {
    /// A tensor. Norms are 1, recurrent states decay, and the scale of matrices keeps activations near 1.
    fn tensor(&mut self, name: &str, dims: &[usize]) -> Result<Tensor> {
        let count = dims.iter().product();
        let values = match dims {
            _ if name.ends_with("ssm_a") => vec![-0.1; count],
            [_, columns] => {
                let scale = (3.0 / *columns as f32).sqrt();
                (0..count).map(|_| scale * self.next()).collect()
            }
            _ => vec![1.0; count],
        };
        Ok(Tensor::from_vec(values, dims, &Device::Cpu)?)
    }

    /// Uniform in [-1, 1).
    fn next(&mut self) -> f32 {
        (2.0 * self.0.uniform() - 1.0) as f32
    }
}
