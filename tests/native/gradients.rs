//! Compares integrated gradients from differences of scoring passes with exact float64 derivatives (`golden/gradients.py`).

use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::rc::Rc;

use crate::is_thorough;
use crate::models::{self, SHAPES, TOKENS};
use candle_core::quantized::GgmlDType;
use glasscage::attribution::measure::measure;
use glasscage::attribution::measured::MeasureRequest;
use glasscage::attribution::{Segments, Transcript, method};
use glasscage::cpu::CandleModel;
use glasscage::engine::Engine;
use glasscage::explanation::MethodId;
use glasscage::gpu::GpuModel;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::lm::{Edit, Input, LanguageModel, Pass, ScoreRequest};
use glasscage::metrics::rank_correlation;
use glasscage::model::gguf::Gguf;
use glasscage::model::source::{BytesInMemory, NativeFile};
use glasscage::request::{BackendChoice, Question};
use glasscage::session::{AnswerResult, AnsweredQuestion, Session};

const FLOAT64: &str = include_str!("../golden/gradients.json");
const END_TOKEN: u32 = 2;

/// `golden/gradients.json`.
#[derive(serde::Deserialize)]
struct Golden {
    sentences: Vec<[usize; 2]>,
    /// First position of the generated text.
    generation: usize,
    shapes: Vec<GoldenShape>,
}

#[derive(serde::Deserialize)]
struct GoldenShape {
    name: String,
    /// Integrals from each sentence except the last to each generated token, in nats.
    integrated: Vec<Vec<f64>>,
}

impl Golden {
    fn sentences(&self) -> Vec<Range<usize>> {
        self.sentences.iter().map(|&[start, end]| start..end).collect()
    }

    fn transcript(&self) -> Transcript {
        let generation = self.generation..TOKENS.len();
        Transcript { tokens: TOKENS.to_vec(), generation, end_token: END_TOKEN, control_tokens: vec![END_TOKEN], infills: Vec::new() }
    }

    fn segments(&self) -> Segments {
        let (prompt, generation) = self.sentences().into_iter().partition(|sentence| sentence.end <= self.generation);
        Segments { prompt, generation }
    }
}

impl GoldenShape {
    /// Mean over the block of tokens, like the page's score.
    fn score(&self, golden: &Golden, source: usize, target: &Range<usize>) -> f64 {
        let of_target = &self.integrated[source][target.start - golden.generation..target.end - golden.generation];
        of_target.iter().sum::<f64>() / (target.len() * golden.sentences()[source].len()) as f64
    }
}

async fn cpu(file: &BytesInMemory, gguf: &Gguf) -> CandleModel {
    CandleModel::load(file, gguf, &mut async |_| ControlFlow::Continue(())).await.unwrap().unwrap().0
}

async fn gpu(file: &BytesInMemory, gguf: &Gguf) -> GpuModel {
    let gpu = Gpu::open(&Options::default()).await.expect("a Vulkan driver");
    GpuModel::load(Rc::new(gpu), file, gguf, &mut async |_| ControlFlow::Continue(())).await.unwrap().unwrap().0
}

/// The largest error of an `ig` score, relative to the largest score.
async fn error(model: &mut impl LanguageModel, golden: &Golden, shape: &GoldenShape) -> f64 {
    let (transcript, segments) = (golden.transcript(), golden.segments());
    let measured =
        measure(model, &MeasureRequest::new(&[method(MethodId::IntegratedGradients)], &transcript, &segments), &mut async |_| {
            ControlFlow::Continue(())
        })
        .await;
    assert!(measured.failure.is_none(), "{:?}", measured.failure);
    let (mut largest, mut error) = (0.0_f64, 0.0_f64);
    for (i, row) in measured.tables[0].rows().enumerate() {
        for (j, score) in row.iter().enumerate() {
            let exact = shape.score(golden, j, &segments.generation[i]);
            largest = largest.max(exact.abs());
            error = error.max((score.expect("all is measured") - exact).abs());
        }
    }
    error / largest
}

#[test]
fn pass_differences_match_exact_gradients() {
    let golden: Golden = serde_json::from_str(FLOAT64).unwrap();
    pollster::block_on(async {
        for (i, theirs) in golden.shapes.iter().enumerate() {
            let shape = SHAPES.iter().find(|shape| shape.name == theirs.name).unwrap();
            let file = BytesInMemory(models::file(shape, GgmlDType::F32));
            let gguf = Gguf::read(&file).await.unwrap();
            let mut errors = vec![error(&mut cpu(&file, &gguf).await, &golden, theirs).await];
            // The GPU computes the same passes. Test it with one model, unless all cases run.
            if is_thorough() || i == 0 {
                errors.push(error(&mut gpu(&file, &gguf).await, &golden, theirs).await);
            }
            println!("{}: errors of {errors:?} of the largest score, on the CPU and then on the GPU", shape.name);
            assert!(errors.iter().all(|&error| error < 1e-3), "{}: {errors:?}", shape.name);
        }
    });
}

/// The largest error of the integral from one sentence to one token, relative to the largest integral.
async fn token_error(model: &mut impl LanguageModel, golden: &Golden, shape: &GoldenShape, half_width: f32) -> f64 {
    const STEPS: usize = 20;
    let sentences = golden.sentences();
    let at = |place: f32, sentence: &Range<usize>| Edit {
        start: sentence.start,
        inputs: TOKENS[sentence.clone()].iter().map(|&token| Input { token, blend_with: END_TOKEN, blend: 1.0 - place }).collect(),
    };
    let mut sums = vec![vec![0.0; TOKENS.len() - golden.generation]; sentences.len() - 1];
    for step in 0..STEPS {
        let place = (step as f32 + 0.5) / STEPS as f32;
        let edits: Vec<Edit> = sentences.iter().map(|sentence| at(place, sentence)).collect();
        let pass = |further: f32, sentence| Pass { edits: vec![at(place + further, sentence)] };
        let passes: Vec<Pass> =
            sentences[..sums.len()].iter().flat_map(|sentence| [half_width, -half_width].map(|further| pass(further, sentence))).collect();
        let job = ScoreRequest { edits: &edits, ..ScoreRequest::new(&TOKENS, golden.generation..TOKENS.len(), &passes) };
        let score = model.score(&job, async |number, readout| {
            if let Some(pass) = number.checked_sub(1) {
                let sign = if pass % 2 == 0 { 1.0 } else { -1.0 };
                let slope = |log_prob: &f64| sign * log_prob / f64::from(2.0 * half_width) / STEPS as f64;
                sums[pass / 2].iter_mut().zip(&readout.log_probs).for_each(|(sum, log_prob)| *sum += slope(log_prob));
            }
            ControlFlow::Continue(())
        });
        score.await.unwrap();
    }
    let pairs = || sums.iter().flatten().zip(shape.integrated.iter().flatten());
    let largest = pairs().map(|(_, exact)| exact.abs()).fold(0.0, f64::max);
    pairs().map(|(ours, exact)| (ours - exact).abs()).fold(0.0, f64::max) / largest
}

/// The width of the differences is a compromise: wide ones ignore curvature, and narrow ones are dominated by rounding.
#[test]
fn chosen_width_is_near_best() {
    let golden: Golden = serde_json::from_str(FLOAT64).unwrap();
    let theirs = &golden.shapes[2];
    let shape = SHAPES.iter().find(|shape| shape.name == theirs.name).unwrap();
    let file = BytesInMemory(models::file(shape, GgmlDType::F32));
    pollster::block_on(async {
        let gguf = Gguf::read(&file).await.unwrap();
        let (mut cpu, mut gpu) = (cpu(&file, &gguf).await, gpu(&file, &gguf).await);
        let mut errors = Vec::new();
        for half_width in [0.02, 0.005, 0.0012, 0.0003] {
            let both = [token_error(&mut cpu, &golden, theirs, half_width).await, token_error(&mut gpu, &golden, theirs, half_width).await];
            println!("half width {half_width}: errors of {:.1e} and {:.1e} of the largest, on CPU and GPU", both[0], both[1]);
            errors.push((half_width, both[0].max(both[1])));
        }
        let best: f64 = errors.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
        let chosen = errors.iter().find(|(half_width, _)| *half_width == glasscage::attribution::HALF_WIDTH).expect("it was tried").1;
        assert!(chosen <= best, "{chosen} {best}");
    });
}

/// Attn x IG of each block from single tokens: the product for each pair of tokens, then the mean over the block, as in the paper.
async fn from_tokens(session: &mut Session<Engine>, transcript: &Transcript, segments: &Segments) -> Vec<f64> {
    let tokens = |sentences: &[Range<usize>]| sentences.iter().flat_map(|sentence| sentence.clone().map(|t| t..t + 1)).collect::<Vec<_>>();
    let single = Segments { prompt: tokens(&segments.prompt), generation: tokens(&segments.generation) };
    let method = [method(MethodId::AttentionGradients)];
    let measured =
        measure(&mut session.lm, &MeasureRequest::new(&method, transcript, &single), &mut async |_| ControlFlow::Continue(())).await;
    let sources: Vec<usize> = single.prompt.iter().chain(&single.generation).map(|token| token.start).collect();
    let score = |target: usize, source: usize| {
        let row = single.generation.iter().position(|token| token.start == target).unwrap();
        let column = sources.iter().position(|&token| token == source).unwrap();
        measured.tables[0].row(row)[column].unwrap()
    };
    let block = |target: &Range<usize>, source: &Range<usize>| {
        let pairs = target.clone().flat_map(|t| source.clone().map(move |s| (t, s)));
        pairs.map(|(t, s)| score(t, s)).sum::<f64>() / (target.len() * source.len()) as f64
    };
    segments
        .generation
        .iter()
        .enumerate()
        .flat_map(|(i, target)| (0..segments.prompt.len() + i).map(move |j| (target, j)))
        .map(|(target, j)| block(target, segments.source(j)))
        .collect()
}

/// The page multiplies attention and gradient per sentence, the paper per token.
#[test]
fn sentence_products_rank_like_token_products() {
    let question = Question::greedy("Tom has 6 apples. He eats 2 apples. How many apples does Tom have?");
    pollster::block_on(async {
        let source = NativeFile::open(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf"))).unwrap();
        let loaded = Session::load(&source, BackendChoice::Cpu, &mut async |_| ControlFlow::Continue(())).await;
        let mut session = loaded.unwrap().unwrap();
        let AnswerResult::Answered(answered) = session.answer(&question, &mut async |_| ControlFlow::Continue(())).await.unwrap() else {
            panic!("it answers");
        };
        let AnsweredQuestion { transcript, segments, .. } = *answered;
        let method = [method(MethodId::AttentionGradients)];
        let measured =
            measure(&mut session.lm, &MeasureRequest::new(&method, &transcript, &segments), &mut async |_| ControlFlow::Continue(())).await;
        let ours: Vec<f64> = measured.tables[0].rows().flatten().map(|score| score.unwrap()).collect();
        let theirs = from_tokens(&mut session, &transcript, &segments).await;
        let agreement = rank_correlation(&ours, &theirs).unwrap();
        println!("rank correlation {agreement:.3}; of sentences {ours:.3?}, of tokens {theirs:.3?}");
        assert!(agreement > 0.7, "{agreement}");
    });
}
