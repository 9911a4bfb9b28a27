//! Random models of every architecture and tensor type, written by candle and evaluated by candle-transformers.

#![cfg(not(target_arch = "wasm32"))]

use std::io::Cursor;
use std::ops::ControlFlow;

use candle_core::quantized::gguf_file::{self, Content, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use candle_transformers::models::{quantized_llama, quantized_qwen2, quantized_qwen3};
use glasscage::cpu::CandleModel;
use glasscage::lm::{Job, LanguageModel};
use glasscage::model::gguf::Gguf;
use glasscage::model::source::Memory;

const VOCAB: usize = 97;
const DIM: usize = 256;
const FFN: usize = 512;
const LAYERS: usize = 2;
const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const TOKENS: [u32; 12] = [3, 17, 96, 0, 42, 42, 5, 61, 8, 1, 77, 30];

/// What is particular about a random model.
struct Shape {
    architecture: &'static str,
    head_dim: usize,
    tied: bool,
}

const SHAPES: [Shape; 4] = [
    Shape { architecture: "llama", head_dim: 64, tied: false },
    Shape { architecture: "llama", head_dim: 64, tied: true },
    Shape { architecture: "qwen2", head_dim: 64, tied: true },
    // The only one whose heads need not make up the width of the residual stream.
    Shape { architecture: "qwen3", head_dim: 48, tied: true },
];

/// Uniform in [-1, 1), the same everywhere (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Rows first; values of a size that keeps activations near 1, norms near 1.
    fn tensor(&mut self, name: &str, shape: &[usize]) -> Tensor {
        let columns = *shape.last().unwrap() as f32;
        let value = |random: &mut Self| match name {
            _ if name.ends_with("norm.weight") => 1.0 + 0.3 * random.next(),
            _ if name == "token_embd.weight" => random.next(),
            _ => random.next() * (6.0 / columns).sqrt(),
        };
        let values: Vec<f32> = (0..shape.iter().product()).map(|_| value(self)).collect();
        Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
    }
}

fn tensors(shape: &Shape) -> Vec<(String, Tensor)> {
    let mut random = Random(7);
    let (q, kv) = (HEADS * shape.head_dim, KV_HEADS * shape.head_dim);
    let mut shapes = vec![("token_embd.weight".to_owned(), vec![VOCAB, DIM]), ("output_norm.weight".into(), vec![DIM])];
    if !shape.tied {
        shapes.push(("output.weight".into(), vec![VOCAB, DIM]));
    }
    for i in 0..LAYERS {
        let mut layer = |part: &str, dims: &[usize]| shapes.push((format!("blk.{i}.{part}"), dims.to_vec()));
        layer("attn_norm.weight", &[DIM]);
        layer("ffn_norm.weight", &[DIM]);
        for (part, rows) in [("attn_q", q), ("attn_k", kv), ("attn_v", kv)] {
            layer(&format!("{part}.weight"), &[rows, DIM]);
            if shape.architecture == "qwen2" {
                layer(&format!("{part}.bias"), &[rows]);
            }
        }
        if shape.architecture == "qwen3" {
            layer("attn_q_norm.weight", &[shape.head_dim]);
            layer("attn_k_norm.weight", &[shape.head_dim]);
        }
        layer("attn_output.weight", &[DIM, q]);
        layer("ffn_gate.weight", &[FFN, DIM]);
        layer("ffn_up.weight", &[FFN, DIM]);
        layer("ffn_down.weight", &[DIM, FFN]);
    }
    shapes.into_iter().map(|(name, dims)| (name.clone(), random.tensor(&name, &dims))).collect()
}

/// A GGUF file, written by candle.
fn file(shape: &Shape, tensors: &[(String, QTensor)]) -> Vec<u8> {
    let name = shape.architecture;
    let number = |number: usize| Value::U32(number as u32);
    let knobs = [
        ("general.architecture".to_owned(), Value::String(name.into())),
        ("general.dtype".into(), Value::U32(0)),
        (format!("{name}.block_count"), number(LAYERS)),
        (format!("{name}.embedding_length"), number(DIM)),
        (format!("{name}.feed_forward_length"), number(FFN)),
        (format!("{name}.attention.head_count"), number(HEADS)),
        (format!("{name}.attention.head_count_kv"), number(KV_HEADS)),
        (format!("{name}.attention.key_length"), number(shape.head_dim)),
        (format!("{name}.rope.dimension_count"), number(shape.head_dim)),
        (format!("{name}.context_length"), number(64)),
        (format!("{name}.attention.layer_norm_rms_epsilon"), Value::F32(1e-5)),
        (format!("{name}.rope.freq_base"), Value::F32(10_000.0)),
    ];
    let metadata: Vec<(&str, &Value)> = knobs.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    let mut bytes = Cursor::new(Vec::new());
    gguf_file::write(&mut bytes, &metadata, &tensors).unwrap();
    bytes.into_inner()
}

fn quantize(tensors: &[(String, Tensor)], dtype: GgmlDType) -> Vec<(String, QTensor)> {
    let kind = |tensor: &Tensor| {
        let whole_blocks = tensor.dims().last().unwrap().is_multiple_of(dtype.block_size());
        if tensor.rank() == 2 && whole_blocks { dtype } else { GgmlDType::F32 }
    };
    tensors.iter().map(|(name, tensor)| (name.clone(), QTensor::quantize(tensor, kind(tensor)).unwrap())).collect()
}

fn expand(tensors: &[(String, QTensor)]) -> Vec<(String, QTensor)> {
    let f32s: Vec<_> = tensors.iter().map(|(name, tensor)| (name.clone(), tensor.dequantize(&Device::Cpu).unwrap())).collect();
    quantize(&f32s, GgmlDType::F32)
}

/// A model of candle-transformers: token, position -> logits.
type Forward = Box<dyn FnMut(&Tensor, usize) -> candle_core::Result<Tensor>>;

/// ln p of every token after the first, by candle-transformers, token by token.
fn by_candle_transformers(shape: &Shape, file: &[u8]) -> Vec<f64> {
    let mut reader = Cursor::new(file);
    let content = Content::read(&mut reader).unwrap();
    let device = &Device::Cpu;
    let mut forward: Forward = match shape.architecture {
        "llama" => {
            let mut model = quantized_llama::ModelWeights::from_gguf(content, &mut reader, device).unwrap();
            Box::new(move |x, position| model.forward(x, position))
        }
        "qwen2" => {
            let mut model = quantized_qwen2::ModelWeights::from_gguf(content, &mut reader, device).unwrap();
            Box::new(move |x, position| model.forward(x, position))
        }
        _ => {
            let mut model = quantized_qwen3::ModelWeights::from_gguf(content, &mut reader, device).unwrap();
            Box::new(move |x, position| model.forward(x, position))
        }
    };
    let mut log_prob = |position: usize| {
        let input = Tensor::new(&TOKENS[position..=position], device).unwrap().unsqueeze(0).unwrap();
        let logits = forward(&input, position).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let sum: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
        f64::from(logits[TOKENS[position + 1] as usize]) - sum.ln()
    };
    (0..TOKENS.len() - 1).map(&mut log_prob).collect()
}

fn ours(file: Vec<u8>) -> Vec<f64> {
    let source = Memory(file);
    let mut log_probs = Vec::new();
    pollster::block_on(async {
        let gguf = Gguf::read(&source).await.unwrap();
        let (mut model, _) = CandleModel::load(&source, &gguf, async |_| ControlFlow::Continue(())).await.unwrap().unwrap();
        let job = Job { tokens: &TOKENS, targets: 1..TOKENS.len(), passes: &[] };
        let score = model.score(&job, async |_, readout| {
            log_probs = readout.log_probs.clone();
            ControlFlow::Continue(())
        });
        score.await.unwrap();
    });
    log_probs
}

fn assert_equal(shape: &Shape, dtype: GgmlDType) {
    let tensors = quantize(&tensors(shape), dtype);
    // candle's own quantised matmul rounds activations to 8 bits, so it gets the same weights in f32.
    let theirs = by_candle_transformers(shape, &file(shape, &expand(&tensors)));
    let ours = ours(file(shape, &tensors));
    let difference = ours.iter().zip(&theirs).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    println!("{} {dtype:?}: at most {difference:.1e} nat", shape.architecture);
    assert!(difference < 1e-4, "{} {dtype:?}: {ours:?} {theirs:?}", shape.architecture);
}

#[test]
fn every_architecture_agrees_with_candle_transformers() {
    SHAPES.iter().for_each(|shape| assert_equal(shape, GgmlDType::F32));
}

#[test]
fn every_tensor_type_agrees_with_its_own_dequantisation() {
    use GgmlDType::*;
    [F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2K, Q3K, Q4K, Q5K, Q6K].iter().for_each(|&dtype| assert_equal(&SHAPES[3], dtype));
}
