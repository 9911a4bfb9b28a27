//! Compares each engine on random models of every architecture and tensor type with candle-transformers, and with float64 values from
//! numpy (`golden/architectures.py`) or Hugging Face transformers (`golden/families.py`).

use std::io::Cursor;
use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use crate::models::{self, SHAPES, Shape, TOKENS};
use crate::{block_models, is_thorough};
use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Content;
use candle_core::{Device, Tensor};
use candle_transformers::models::{quantized_llama, quantized_qwen2, quantized_qwen3};
use glasscage::cpu::CandleModel;
use glasscage::gpu::GpuModel;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::gpu::variant::{VARIANTS, Variant};
use glasscage::lm::{Edit, Input, LanguageModel, Pass, Readout, ScoreRequest};
use glasscage::model::config::Config;
use glasscage::model::gguf::{self, Gguf};
use glasscage::model::source::BytesInMemory;
use glasscage::model::tensors::is_ignored;

const FLOAT64: &str = include_str!("../golden/architectures.json");
const BY_TRANSFORMERS: &str = include_str!("../golden/families.json");
/// Architectures that candle-transformers supports.
const KNOWN_TO_CANDLE: [&str; 3] = ["llama", "qwen2", "qwen3"];

/// One engine's readouts of every token after the first: for the unchanged text, then for each pass.
struct Answer {
    engine: String,
    readouts: Vec<Readout>,
}

/// GPU variants that also run with matrices in buffers of at most `max_matrix_bytes`. Each buffer is a separate dispatch, and small ones
/// take ten times as long on software GPUs.
struct Split {
    variants: &'static [Variant],
    max_matrix_bytes: u64,
}

impl Split {
    /// Splits the matrices of case `i` on these variants if all cases run, or if it is one case in four.
    fn of_case(i: usize, variants: &'static [Variant], max_matrix_bytes: u64) -> Self {
        Self { variants: if is_thorough() || i.is_multiple_of(4) { variants } else { &[] }, max_matrix_bytes }
    }
}

/// Answers of every engine to the same model file. Also answers of the GPU engine with each matrix split into several buffers.
async fn answers(file: Vec<u8>, passes: &[Pass], attended: &[Range<usize>], split: Split) -> Vec<Answer> {
    let source = BytesInMemory(file);
    let gguf = Gguf::read(&source).await.unwrap();
    let on_cpu = CandleModel::load(&source, &gguf, &mut async |_| ControlFlow::Continue(())).await.unwrap().unwrap().0;
    let mut answers = vec![Answer { engine: "cpu".into(), readouts: readouts(on_cpu, passes, attended).await }];
    let whole = VARIANTS.iter().map(|variant| (variant, None));
    for (variant, max_matrix_bytes) in whole.chain(split.variants.iter().map(|variant| (variant, Some(split.max_matrix_bytes)))) {
        let gpu = Gpu::open(&Options { variant: Some(variant), max_matrix_bytes, ..Options::default() }).await.expect("a Vulkan driver");
        let model = GpuModel::load(Rc::new(gpu), &source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
        let engine = format!("gpu, {}{}", variant.name, if max_matrix_bytes.is_some() { ", split" } else { "" });
        answers.push(Answer { engine, readouts: readouts(model.unwrap().unwrap().0, passes, attended).await });
    }
    answers
}

async fn readouts(mut model: impl LanguageModel, passes: &[Pass], attended: &[Range<usize>]) -> Vec<Readout> {
    let job = ScoreRequest { divergences: true, attended, ..ScoreRequest::new(&TOKENS, 1..TOKENS.len(), passes) };
    crate::readouts::readouts(&mut model, &job).await.unwrap()
}

/// A model of candle-transformers: maps token and position to logits.
type Forward = Box<dyn FnMut(&Tensor, usize) -> candle_core::Result<Tensor>>;

/// ln p of every token after the first from candle-transformers, token by token.
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

/// The largest difference in nats. Fails if it is not small.
fn difference(what: &str, ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    // Counts NaN as the largest difference.
    let difference = ours.iter().zip(theirs).map(|(x, y)| (x - y).abs()).max_by(f64::total_cmp).unwrap_or(0.0);
    assert!(difference < 1e-4, "{what}: {ours:?} {theirs:?}");
    difference
}

fn compare_with_candle_transformers(i: usize, shape: &Shape, dtype: GgmlDType) {
    // candle's quantized product rounds activations to 8 bits, so candle gets the same weights in f32.
    compare(i, shape, &format!("{dtype:?}"), [models::file(shape, dtype), models::expanded_file(shape, dtype)]);
}

/// Compares every engine's answers to the file of case `i` with those of candle-transformers for the same weights in f32.
fn compare(i: usize, shape: &Shape, quant: &str, [file, expanded]: [Vec<u8>; 2]) {
    let theirs = by_candle_transformers(shape, &expanded);
    for answer in pollster::block_on(answers(file, &[], &[], Split::of_case(i, VARIANTS, 5_000))) {
        let what = format!("{}, {}, {quant}", answer.engine, shape.name);
        let difference = difference(&what, &answer.readouts[0].log_probs, &theirs);
        println!("{what}: at most {difference:.1e} nat from candle-transformers");
    }
}

#[test]
fn every_architecture_agrees_with_candle_transformers() {
    // candle-transformers does not support rope factors.
    let known = SHAPES.iter().filter(|shape| !shape.rope_factors && KNOWN_TO_CANDLE.contains(&shape.architecture));
    known.enumerate().for_each(|(i, shape)| compare_with_candle_transformers(i, shape, GgmlDType::F32));
}

#[test]
fn tensor_types_agree_with_dequantization() {
    use GgmlDType::*;
    let shape = SHAPES.iter().find(|shape| shape.name == "qwen3, tied").unwrap();
    let dtypes = [F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2K, Q3K, Q4K, Q5K, Q6K];
    dtypes.iter().enumerate().for_each(|(i, &dtype)| compare_with_candle_transformers(i, shape, dtype));
    // candle does not support these types. Their scales are 2^-10, and 2^-15 times at most 32.
    for (i, (name, scale)) in [("IQ4_NL", 0x1400), ("IQ4_XS", 0x0200)].into_iter().enumerate() {
        compare(i, shape, name, block_models::files(shape, name, scale));
    }
}

#[test]
fn weights_take_no_more_memory_than_in_file() {
    for shape in SHAPES {
        for dtype in [GgmlDType::F16, GgmlDType::Q8_0, GgmlDType::Q4K] {
            let source = BytesInMemory(models::file(shape, dtype));
            let gguf = pollster::block_on(Gguf::read(&source)).unwrap();
            let model = pollster::block_on(CandleModel::load(&source, &gguf, &mut async |_| ControlFlow::Continue(())));
            let config = Config::from_gguf(&gguf).unwrap();
            let is_read = |tensor: &&gguf::Tensor| !is_ignored(&tensor.name, &config);
            let in_file: usize = gguf.tensors.iter().filter(is_read).map(|tensor| tensor.bytes).sum();
            assert_eq!(model.unwrap().unwrap().0.weight_bytes(), in_file, "{}, {dtype:?}", shape.name);
        }
    }
}

/// `golden/architectures.json`.
#[derive(serde::Deserialize)]
struct Golden {
    tokens: Vec<u32>,
    end_token: u32,
    ranges: Vec<[usize; 2]>,
    shapes: Vec<GoldenShape>,
    /// The first shape with weights whose scales are subnormal f16 numbers.
    subnormal: GoldenShape,
}

#[derive(serde::Deserialize)]
struct GoldenShape {
    name: String,
    /// Hash of the weights.
    sha256: String,
    /// ln p of every token after the first.
    log_probs: Vec<f64>,
    /// Attention on each of the ranges, for every token after the first.
    attention: Vec<Vec<f64>>,
    flow: Vec<Vec<f64>>,
    perturbed: Vec<Perturbed>,
}

#[derive(serde::Deserialize)]
struct Perturbed {
    edit: GoldenEdit,
    /// ln p of the original tokens after position `edit.start`.
    log_probs: Vec<f64>,
    /// KL(base || perturbed) at the same positions.
    divergences: Vec<f64>,
}

#[derive(serde::Deserialize)]
struct GoldenEdit {
    start: usize,
    length: usize,
    /// Share of the end token's embedding.
    share: f32,
}

impl GoldenShape {
    fn passes(&self, end_token: u32) -> Vec<Pass> {
        let edit = |&GoldenEdit { start, length, share }: &GoldenEdit| {
            let input = |&token| if share < 1.0 { Input { token, blend_with: end_token, blend: share } } else { end_token.into() };
            Edit { start, inputs: TOKENS[start..start + length].iter().map(input).collect() }
        };
        self.perturbed.iter().map(|perturbed| Pass { edits: vec![edit(&perturbed.edit)] }).collect()
    }

    /// The expected readouts: the base text, then each pass. Before its edit, a pass equals the base text.
    fn readouts(&self) -> Vec<Readout> {
        let pass = |perturbed: &Perturbed| Readout {
            log_probs: [&self.log_probs[..perturbed.edit.start], &perturbed.log_probs].concat(),
            divergences: [vec![0.0; perturbed.edit.start], perturbed.divergences.clone()].concat(),
            ..Readout::default()
        };
        let base = Readout {
            log_probs: self.log_probs.clone(),
            divergences: vec![0.0; self.log_probs.len()],
            attention: self.attention.concat(),
            flow: self.flow.concat(),
            ..Readout::default()
        };
        std::iter::once(base).chain(self.perturbed.iter().map(pass)).collect()
    }
}

/// Compares every engine's answers to a model file with the float64 values.
fn compare_with_float64(name: &str, file: Vec<u8>, golden: &GoldenShape, end_token: u32, ranges: &[Range<usize>], split: Split) {
    for answer in pollster::block_on(answers(file, &golden.passes(end_token), ranges, split)) {
        let what = format!("{}, {name}", answer.engine);
        assert_eq!(answer.readouts.len(), golden.perturbed.len() + 1, "{what}");
        let pairs = answer.readouts.iter().zip(golden.readouts()).enumerate();
        let differences = pairs.map(|(i, (ours, theirs))| {
            let what = format!("{what}, readout {i}");
            let parts: [fn(&Readout) -> &Vec<f64>; 4] = [|r| &r.log_probs, |r| &r.divergences, |r| &r.attention, |r| &r.flow];
            parts.map(|part| difference(&what, part(ours), part(&theirs))).into_iter().fold(0.0, f64::max)
        });
        let differences: Vec<String> = differences.map(|difference| format!("{difference:.1e}")).collect();
        println!("{what}: at most {} nat from float64 (base, passes)", differences.join(", "));
    }
}

#[test]
fn every_architecture_agrees_with_float64() {
    let golden: Golden = serde_json::from_str(FLOAT64).unwrap();
    let families: Vec<GoldenShape> = serde_json::from_str(BY_TRANSFORMERS).unwrap();
    assert_eq!((golden.tokens.as_slice(), golden.shapes.len() + families.len()), (TOKENS.as_slice(), SHAPES.len()));
    let ranges: Vec<Range<usize>> = golden.ranges.iter().map(|&[start, end]| start..end).collect();
    let end_token = golden.end_token;
    let split = |i| Split::of_case(i, &VARIANTS[..1], 20_000);
    for (i, (shape, golden)) in SHAPES.iter().zip(golden.shapes.iter().chain(&families)).enumerate() {
        assert_eq!((shape.name, models::sha256(shape)), (golden.name.as_str(), golden.sha256.clone()), "not the same weights");
        compare_with_float64(shape.name, models::file(shape, GgmlDType::F32), golden, end_token, &ranges, split(i));
    }
    let (file, sha256) = models::subnormal_file(&SHAPES[0]);
    assert_eq!(sha256, golden.subnormal.sha256, "not the same weights");
    compare_with_float64("subnormal scales", file, &golden.subnormal, end_token, &ranges, split(0));
}
