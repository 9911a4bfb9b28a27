//! `random_model --shape 42m|135m|0.6b|1b [--quant Q8_0|Q4_K|F16] OUT.gguf`: a Qwen 3 with random weights, to measure
//! speed on. Its sizes and its tokenizer are real; what it says is not. The same call writes the same file.

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
use glasscage::lm::rng::Rng;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Writes a model with random weights.
#[derive(Parser)]
struct Arguments {
    /// 42m, 135m, 0.6b or 1b
    #[arg(long)]
    shape: String,
    /// Of matrices: `Q8_0`, `Q4_K` or F16
    #[arg(long, default_value = "Q8_0")]
    quant: String,
    out: PathBuf,
}

/// Sizes, as in GGUF metadata.
struct Shape {
    name: &'static str,
    layers: usize,
    dim: usize,
    ffn: usize,
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
}

/// All have Qwen 3's 151,936 tokens and no LM head but their embedding. The layers of 135m are those of SmolLM2-135M,
/// those of 1b of Llama-3.2-1B; 0.6b is Qwen3-0.6B.
const SHAPES: [Shape; 4] = [
    Shape { name: "42m", layers: 8, dim: 256, ffn: 256, heads: 4, kv_heads: 2, head_dim: 64 },
    Shape { name: "135m", layers: 30, dim: 576, ffn: 1536, heads: 9, kv_heads: 3, head_dim: 64 },
    Shape { name: "0.6b", layers: 28, dim: 1024, ffn: 3072, heads: 16, kv_heads: 8, head_dim: 128 },
    Shape { name: "1b", layers: 16, dim: 2048, ffn: 8192, heads: 32, kv_heads: 8, head_dim: 64 },
];

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let shape = SHAPES.iter().find(|shape| shape.name == arguments.shape).ok_or("--shape is 42m, 135m, 0.6b or 1b")?;
    let dtype = match arguments.quant.as_str() {
        "Q8_0" => GgmlDType::Q8_0,
        "Q4_K" => GgmlDType::Q4K,
        "F16" => GgmlDType::F16,
        other => return Err(format!("--quant {other}: Q8_0, Q4_K or F16").into()),
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

/// Tokenizer and chat template of a real Qwen 3, and the sizes.
fn metadata(shape: &Shape) -> Result<HashMap<String, Value>> {
    let mut metadata = Content::read(&mut Cursor::new(vocabulary::vocabulary("qwen3")))?.metadata;
    let mut number = |key: &str, number: usize| metadata.insert(format!("qwen3.{key}"), Value::U32(number as u32));
    number("block_count", shape.layers);
    number("context_length", 4096);
    number("embedding_length", shape.dim);
    number("feed_forward_length", shape.ffn);
    number("attention.head_count", shape.heads);
    number("attention.head_count_kv", shape.kv_heads);
    number("attention.key_length", shape.head_dim);
    number("attention.value_length", shape.head_dim);
    metadata.insert("qwen3.attention.layer_norm_rms_epsilon".into(), Value::F32(1e-6));
    metadata.insert("qwen3.rope.freq_base".into(), Value::F32(1e6));
    metadata.insert("general.architecture".into(), Value::String("qwen3".into()));
    metadata.insert("general.name".into(), Value::String(format!("random {}", shape.name)));
    Ok(metadata)
}

/// One after the other, so that only one is in memory as f32.
fn tensors(shape: &Shape, n_tokens: usize, dtype: GgmlDType) -> Result<Vec<(String, QTensor)>> {
    let mut random = Random(Rng::new(7));
    let mut tensors = Vec::new();
    for (name, dims) in dims(shape, n_tokens) {
        let tensor = random.tensor(&dims)?;
        tensors.push((name, QTensor::quantize(&tensor, kind(&dims, dtype))?));
    }
    Ok(tensors)
}

/// Rows that are no whole blocks get a smaller block, as llama.cpp does it.
fn kind(dims: &[usize], dtype: GgmlDType) -> GgmlDType {
    match dims {
        [_, columns] if columns.is_multiple_of(dtype.block_size()) => dtype,
        [_, columns] if columns.is_multiple_of(GgmlDType::Q8_0.block_size()) => GgmlDType::Q8_0,
        _ => GgmlDType::F32,
    }
}

/// Names and sizes, rows first.
fn dims(shape: &Shape, n_tokens: usize) -> Vec<(String, Vec<usize>)> {
    let &Shape { dim, ffn, head_dim, .. } = shape;
    let (q, kv) = (shape.heads * head_dim, shape.kv_heads * head_dim);
    let layer = [
        ("attn_norm", vec![dim]),
        ("attn_q", vec![q, dim]),
        ("attn_k", vec![kv, dim]),
        ("attn_v", vec![kv, dim]),
        ("attn_q_norm", vec![head_dim]),
        ("attn_k_norm", vec![head_dim]),
        ("attn_output", vec![dim, q]),
        ("ffn_norm", vec![dim]),
        ("ffn_gate", vec![ffn, dim]),
        ("ffn_up", vec![ffn, dim]),
        ("ffn_down", vec![dim, ffn]),
    ];
    let mut dims = vec![("token_embd.weight".to_owned(), vec![n_tokens, dim]), ("output_norm.weight".into(), vec![dim])];
    for i in 0..shape.layers {
        dims.extend(layer.iter().map(|(part, part_dims)| (format!("blk.{i}.{part}.weight"), part_dims.clone())));
    }
    dims
}

fn write(out: &Path, metadata: &HashMap<String, Value>, tensors: &[(String, QTensor)]) -> Result<()> {
    let mut metadata: Vec<(&str, &Value)> = metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    metadata.sort_by_key(|(key, _)| *key);
    let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    // Whole or not at all: a later run takes the file for finished.
    let part = out.with_extension("part");
    gguf_file::write(&mut BufWriter::new(File::create(&part)?), &metadata, &tensors)?;
    std::fs::rename(part, out)?;
    Ok(())
}

/// Numbers without meaning, the same everywhere.
struct Random(Rng);

impl Random {
    /// Norms of 1; matrices of a size that keeps activations near 1.
    fn tensor(&mut self, dims: &[usize]) -> Result<Tensor> {
        let count = dims.iter().product();
        let values = match dims {
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
