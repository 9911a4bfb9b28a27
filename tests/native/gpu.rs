//! GPU failures and GPU memory, with the demo model.

use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use candle_core::quantized::GgmlDType;
use glasscage::gpu::GpuModel;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::gpu::memory::estimate;
use glasscage::gpu::variant::{VARIANTS, Variant};
use glasscage::lm::sample::Sampler;
use glasscage::lm::{Edit, LanguageModel, LmError, Pass, Readout, ScoreRequest};
use glasscage::model::gguf::Gguf;
use glasscage::model::source::{BytesInMemory, NativeFile};

use crate::models::{self, SHAPES};
use crate::readouts::readouts;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf");

async fn demo() -> GpuModel {
    demo_on(&Options::default()).await
}

/// Submits all work at once and keeps the maximum number of tokens in flight, so that counts are the same on every machine.
async fn demo_at_once() -> GpuModel {
    demo_on(&Options { operations_per_submission: Some(f64::INFINITY), ..Options::default() }).await
}

fn at_once(variant: &'static Variant) -> Options {
    Options { variant: Some(variant), operations_per_submission: Some(f64::INFINITY), ..Options::default() }
}

async fn demo_on(options: &Options) -> GpuModel {
    let source = NativeFile::open(Path::new(DEMO)).expect("the demo model is in the checkout");
    let gguf = Gguf::read(&source).await.expect("a GGUF file");
    let gpu = Gpu::open(options).await.expect("a Vulkan driver");
    let loaded = GpuModel::load(Rc::new(gpu), &source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
    loaded.expect("it loads").expect("nothing stopped it").0
}

fn passes() -> Vec<Pass> {
    (0..40).map(|start| Pass { edits: vec![Edit::new(start, &[1; 5])] }).collect()
}

#[tokio::test]
async fn device_lost_while_measuring_keeps_earlier_readouts() {
    let mut model = demo().await;
    let (tokens, passes) = ([7; 64], passes());
    let device = model.gpu().device.clone();
    let mut readouts = 0;
    let scored = model
        .score(&ScoreRequest::new(&tokens, 48..64, &passes), async |_, _| {
            readouts += 1;
            if readouts == 2 {
                device.destroy();
            }
            ControlFlow::Continue(())
        })
        .await;
    assert!(matches!(scored, Err(LmError::DeviceLost(_))), "{scored:?}");
    assert!((2..40).contains(&readouts), "{readouts}");
    assert!(model.gpu().check().is_err());
}

#[tokio::test]
async fn device_lost_while_answering_is_error() {
    let mut model = demo().await;
    let mut sampler = Sampler::greedy();
    model.reset(20);
    model.next_token(&[1, 2, 3], &mut sampler).await.expect("a token");
    model.gpu().device.destroy();
    assert!(matches!(model.next_token(&[4], &mut sampler).await, Err(LmError::DeviceLost(_))));
}

#[tokio::test]
async fn canceled_run_stops_and_next_run_is_complete() {
    let mut model = demo().await;
    let (tokens, passes) = ([7; 64], passes());
    let job = ScoreRequest::new(&tokens, 48..64, &passes);
    for limit in [3, usize::MAX] {
        let mut readouts = 0;
        let scored = model.score(&job, async |_, _| {
            readouts += 1;
            if readouts == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        scored.await.expect("it scores");
        assert_eq!(readouts, limit.min(41));
    }
}

#[tokio::test]
async fn text_beyond_capacity_is_error() {
    let mut model = demo().await;
    let mut sampler = Sampler::greedy();
    model.reset(4);
    model.next_token(&[1, 2, 3], &mut sampler).await.expect("a token");
    model.next_token(&[4], &mut sampler).await.expect("a token");
    assert!(matches!(model.next_token(&[5], &mut sampler).await, Err(LmError::TooLong { tokens: 5, limit: 4 })));
}

#[tokio::test]
async fn decoding_compiles_nothing_and_reads_back_little() {
    for variant in VARIANTS {
        let mut model = demo_on(&at_once(variant)).await;
        let mut sampler = Sampler::greedy();
        model.reset(64);
        let mut token = model.next_token(&[1, 2, 3, 4], &mut sampler).await.expect("a token");
        token = model.next_token(&[token], &mut sampler).await.expect("a token");
        let early = model.counters();
        println!("{}: {} pipelines at the first tokens", variant.name, early.pipelines);
        assert!(early.pipelines <= 15, "{early:?}");
        for _ in 0..20 {
            token = model.next_token(&[token], &mut sampler).await.expect("a token");
        }
        let late = model.counters();
        assert_eq!(late.pipelines, early.pipelines);
        // The token and its logit.
        assert_eq!(late.bytes_read_back - early.bytes_read_back, 20 * 8);
        assert_eq!((late.dispatches - early.dispatches) % 20, 0);
        assert_eq!(late.submissions - early.submissions, 20);
    }
}

#[tokio::test]
async fn decode_step_has_expected_dispatches() {
    // In addition to layers: the embedding, the LM head, two for the most likely token, and on software adapters the last norm.
    for (variant, of_layer, beside) in [(&VARIANTS[0], 9, 5), (&VARIANTS[1], 5, 4)] {
        let mut model = demo_on(&at_once(variant)).await;
        assert_eq!(dispatches_of_step(&mut model).await, of_layer * model.config().n_layers + beside, "{}", variant.name);
    }
}

/// Dispatches of a decode step in each layer of the models in `tests/models`, on hardware GPUs. A norm of what a layer adds is one more
/// for each, as in `olmo2` and `gemma3`. A convolution is two dispatches in place of one, a recurrent state is four. The projections of
/// these recurrent layers are in three parts, because their six heads do not fill whole groups of interleaved rows.
const OF_LAYERS: [(&str, &[usize]); 9] = [
    ("llama", &[5, 5]),
    ("qwen2", &[5, 5]),
    ("qwen3", &[5, 5]),
    ("granite", &[5, 5]),
    ("smollm3", &[5, 5, 5, 5]),
    ("olmo2", &[7, 7]),
    ("gemma3", &[7, 7, 7, 7, 7, 7]),
    ("lfm2", &[6, 6, 5, 6, 5]),
    ("qwen35", &[10, 10, 10, 5, 10]),
];

#[tokio::test]
async fn decode_step_has_five_dispatches_per_layer_of_attention() {
    for (name, of_layers) in OF_LAYERS {
        let shape = SHAPES.iter().find(|shape| shape.name == name).expect("a model");
        let source = BytesInMemory(models::file(shape, GgmlDType::Q8_0));
        let gguf = Gguf::read(&source).await.expect("a GGUF file");
        let gpu = Gpu::open(&at_once(Variant::of(false))).await.expect("a Vulkan driver");
        let loaded = GpuModel::load(Rc::new(gpu), &source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
        let mut model = loaded.expect("it loads").expect("nothing stopped it").0;
        assert_eq!(dispatches_of_step(&mut model).await, of_layers.iter().sum::<usize>() + 4, "{name}");
    }
}

/// Dispatches of each token after the first ones.
async fn dispatches_of_step(model: &mut GpuModel) -> usize {
    const TOKENS: usize = 20;
    let mut sampler = Sampler::greedy();
    model.reset(64);
    let mut token = model.next_token(&[1, 2, 3, 4], &mut sampler).await.expect("a token");
    token = model.next_token(&[token], &mut sampler).await.expect("a token");
    let before = model.counters().dispatches;
    for _ in 0..TOKENS {
        token = model.next_token(&[token], &mut sampler).await.expect("a token");
    }
    let dispatches = model.counters().dispatches - before;
    assert_eq!(dispatches % TOKENS, 0, "every token takes the same dispatches");
    dispatches / TOKENS
}

#[tokio::test]
async fn scoring_reads_back_numbers_not_logits() {
    let mut model = demo().await;
    let (tokens, passes) = ([7; 64], passes());
    model.score(&ScoreRequest::new(&tokens, 48..64, &passes), async |_, _| ControlFlow::Continue(())).await.expect("it scores");
    let counters = model.counters();
    assert_eq!(counters.head_positions, 16 * 41);
    assert_eq!(counters.bytes_read_back, 16 * counters.head_positions as u64);
}

/// Work that methods with attention or flow add to scoring the unchanged text.
#[tokio::test]
async fn attention_adds_one_dispatch_per_layer_and_block() {
    let mut model = demo_at_once().await;
    let tokens = [7; 100];
    let mut works = Vec::new();
    for attended in [&[][..], &[3..20, 20..60, 60..99]] {
        let before = model.counters();
        let job = ScoreRequest { attended, ..ScoreRequest::new(&tokens, 60..100, &[]) };
        model.score(&job, async |_, _| ControlFlow::Continue(())).await.expect("it scores");
        let after = model.counters();
        let [dispatches, tokens] = [after.dispatches - before.dispatches, after.forward_tokens - before.forward_tokens];
        works.push([dispatches, tokens, (after.bytes_read_back - before.bytes_read_back) as usize]);
    }
    let (config, blocks) = (model.config(), 99_usize.div_ceil(model.gpu().variant.block_rows));
    // A weight and a flow of 4 bytes each, per target, head and range.
    let added = [config.n_layers * blocks, 0, 2 * 4 * 40 * config.n_heads * 3];
    assert_eq!([0, 1, 2].map(|i| works[1][i] - works[0][i]), added);
}

#[tokio::test]
async fn memory_estimate_matches_run() {
    let source = NativeFile::open(Path::new(DEMO)).expect("the demo model is in the checkout");
    let gguf = Gguf::read(&source).await.expect("a GGUF file");
    let mut model = demo().await;
    let variant = model.gpu().variant;
    let estimate = estimate(&gguf, model.config(), variant) as f64;
    let tokens = [7; 512];
    let passes: Vec<Pass> = (0..8).map(|i| Pass { edits: vec![Edit::new(60 * i, &[1; 5])] }).collect();
    let job = ScoreRequest::new(&tokens, 400..512, &passes);
    model.score(&job, async |_, _| ControlFlow::Continue(())).await.expect("it scores");
    let ratio = model.counters().peak_gpu_bytes as f64 / estimate;
    println!("{} bytes in use at most, {ratio:.2} of the estimate", model.counters().peak_gpu_bytes);
    assert!((0.7..1.3).contains(&ratio), "{ratio}");
}

#[tokio::test]
async fn block_and_tile_sizes_do_not_change_scores() {
    let tokens: Vec<u32> = (0..64).map(|i| i * 13 % 200).collect();
    let passes: Vec<Pass> = passes().into_iter().step_by(4).collect();
    let job = ScoreRequest { divergences: true, attended: &[3..9, 9..40, 40..60], ..ScoreRequest::new(&tokens, 48..64, &passes) };
    let mut all: Vec<Vec<Readout>> = Vec::new();
    for cut in CUTS {
        let mut model = demo_on(&Options { variant: Some(cut), ..Options::default() }).await;
        all.push(readouts(&mut model, &job).await.expect("it scores"));
    }
    for readouts in &all[1..] {
        for (one, other) in readouts.iter().zip(&all[0]) {
            let numbers = |readout: &Readout| [&readout.log_probs[..], &readout.divergences, &readout.attention, &readout.flow].concat();
            assert!(numbers(one).iter().zip(numbers(other)).all(|(x, y)| (x - y).abs() < 1e-4), "{one:?} {other:?}");
        }
    }
}

/// Variants that compute a few rows at a time to all rows together, with vocabulary tiles of different sizes.
const CUTS: &[Variant] = &[
    Variant { name: "all together", shares_memory: false, interleaved_rows: 1, block_rows: 4096, vocab_tile: 4096 },
    Variant { name: "fives", shares_memory: false, interleaved_rows: 1, block_rows: 5, vocab_tile: 100 },
    Variant { name: "sixties", shares_memory: true, interleaved_rows: 8, block_rows: 60, vocab_tile: 333 },
];

#[tokio::test]
async fn unchanged_pass_has_no_divergence() {
    let mut model = demo().await;
    let tokens: Vec<u32> = (0..100).map(|i| (37 * i + 11) % 500).collect();
    let passes = [Pass { edits: vec![Edit::new(20, &tokens[20..30])] }];
    let job = ScoreRequest { divergences: true, ..ScoreRequest::new(&tokens, 60..100, &passes) };
    let mut divergences = Vec::new();
    let score = model.score(&job, async |_, readout| {
        divergences.extend(readout.divergences.clone());
        ControlFlow::Continue(())
    });
    score.await.expect("it scores");
    assert_eq!(divergences, [0.0; 80]);
}

/// Readouts of the demo model on a text of 33 rows, with passes down to a single row.
async fn readouts_in_blocks(variant: &'static Variant) -> Vec<Readout> {
    readouts_of(&mut demo_on(&Options { variant: Some(variant), ..Options::default() }).await).await.expect("it scores")
}

async fn readouts_of(model: &mut GpuModel) -> Result<Vec<Readout>, LmError> {
    let tokens: Vec<u32> = (0..34).map(|i| i * 13 % 200).collect();
    let passes: Vec<Pass> = [0, 31, 32].map(|start| Pass { edits: vec![Edit::new(start, &[1])] }).into();
    let job = ScoreRequest { divergences: true, attended: &[3..9, 9..30], ..ScoreRequest::new(&tokens, 24..34, &passes) };
    readouts(model, &job).await
}

/// Variants with these numbers of rows per block.
macro_rules! blocks {
    ($shares_memory:literal: $($rows:literal),*) => {
        &[$(Variant {
            name: stringify!($rows),
            shares_memory: $shares_memory,
            interleaved_rows: VARIANTS[$shares_memory as usize].interleaved_rows,
            block_rows: $rows,
            vocab_tile: 2048,
        }),*]
    };
}

/// 64 rows hold everything; 32 rows leave a last block of one row.
const BLOCKS: [&[Variant]; 2] = [blocks!(false: 64, 32, 5), blocks!(true: 64, 32, 5)];

#[tokio::test]
async fn block_size_does_not_change_bits() {
    for blocks in BLOCKS {
        let [together, others @ ..] = blocks else { unreachable!("there are some") };
        let all = readouts_in_blocks(together).await;
        for variant in others {
            assert!(readouts_in_blocks(variant).await == all, "blocks of {} rows, shared memory {}", variant.name, variant.shares_memory);
        }
    }
}
