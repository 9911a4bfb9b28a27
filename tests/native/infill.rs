//! Infill on each engine yields the most likely allowed tokens, which this test finds with single scoring requests.

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use crate::models::{self, SHAPES, TOKENS};
use candle_core::quantized::GgmlDType;
use glasscage::cpu::CandleModel;
use glasscage::gpu::GpuModel;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::gpu::variant::VARIANTS;
use glasscage::lm::sample::Sampler;
use glasscage::lm::{Edit, InfillRequest, Input, LanguageModel, LmError, Pass, ScoreRequest};
use glasscage::model::gguf::Gguf;
use glasscage::model::source::BytesInMemory;

const VOCAB: u32 = 97;
/// The first span begins the text, two spans are adjacent, and the last has one token.
const SPANS: [Range<usize>; 4] = [0..2, 20..23, 23..26, 71..72];
const START: u32 = 2;

async fn go_on((): ()) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A model with random parameters.
async fn model() -> (BytesInMemory, Gguf) {
    let shape = SHAPES.iter().find(|shape| shape.name == "qwen3").unwrap();
    let file = BytesInMemory(models::file(shape, GgmlDType::F32));
    let gguf = Gguf::read(&file).await.unwrap();
    (file, gguf)
}

async fn cpu() -> CandleModel {
    let (file, gguf) = model().await;
    CandleModel::load(&file, &gguf, &mut async |_| ControlFlow::Continue(())).await.unwrap().unwrap().0
}

async fn gpu(options: &Options) -> GpuModel {
    let (file, gguf) = model().await;
    let gpu = Rc::new(Gpu::open(options).await.expect("a Vulkan driver"));
    GpuModel::load(gpu, &file, &gguf, &mut async |_| ControlFlow::Continue(())).await.unwrap().unwrap().0
}

/// ln p of `token` after `context`.
async fn log_prob(model: &mut impl LanguageModel, context: &[u32], token: u32) -> f64 {
    let tokens = [context, &[token]].concat();
    let mut log_prob = f64::NAN;
    let job = ScoreRequest::new(&tokens, context.len()..tokens.len(), &[]);
    let score = model.score(&job, async |_, readout| {
        log_prob = readout.log_probs[0];
        ControlFlow::Continue(())
    });
    score.await.unwrap();
    log_prob
}

/// The most likely token after `context` that is not in `not`.
async fn best(model: &mut impl LanguageModel, context: &[u32], not: &[u32]) -> u32 {
    let mut all = Vec::new();
    for token in (0..VOCAB).filter(|token| !not.contains(token)) {
        all.push((log_prob(model, context, token).await, token));
    }
    all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1
}

/// The tokens of a span up to the first end.
fn span_to_end(span: &[u32], ends: &[u32]) -> Vec<u32> {
    let length = span.iter().position(|token| ends.contains(token)).map_or(span.len(), |end| end + 1);
    span[..length].to_vec()
}

#[test]
fn span_may_reach_beyond_the_text() {
    pollster::block_on(async {
        let mut cpu = cpu().await;
        let mut gpu = gpu(&Options::default()).await;
        let infill = InfillRequest { tokens: &TOKENS, spans: &[3..5, 66..78], forbidden: &[], ends: &[], start_token: START };
        let filled = cpu.infill(&infill, &mut go_on).await.unwrap().unwrap();
        assert_eq!(gpu.infill(&infill, &mut go_on).await.unwrap().unwrap(), filled);
        let (last, before) = filled[1].split_last().expect("a span is not empty");
        assert_eq!(*last, best(&mut cpu, &[&TOKENS[..66], before].concat(), &[]).await);
    });
}

#[test]
fn text_that_was_scored_is_not_read_again_on_the_cpu() {
    pollster::block_on(async {
        let mut cpu = cpu().await;
        let infill = InfillRequest { tokens: &TOKENS, spans: &SPANS, forbidden: &[], ends: &[], start_token: START };
        let filled = cpu.infill(&infill, &mut go_on).await.unwrap().unwrap();
        let n_filled: usize = SPANS.iter().map(|span| span.len()).sum();
        assert_eq!(cpu.counters().forward_tokens, 70 + n_filled);
        log_prob(&mut cpu, &TOKENS[..TOKENS.len() - 1], TOKENS[TOKENS.len() - 1]).await;
        let before = cpu.counters().forward_tokens;
        assert_eq!(cpu.infill(&infill, &mut go_on).await.unwrap().unwrap(), filled);
        assert_eq!(cpu.counters().forward_tokens - before, n_filled);
    });
}

#[test]
fn spans_get_most_likely_allowed_tokens() {
    pollster::block_on(async {
        let mut cpu = cpu().await;
        // Forbid tokens that would be chosen otherwise, so that the ban has an effect.
        let unforbidden = InfillRequest { tokens: &TOKENS, spans: &SPANS, forbidden: &[], ends: &[], start_token: START };
        let free = cpu.infill(&unforbidden, &mut go_on).await.unwrap().unwrap();
        let forbidden = [free[1][1], free[2][0]];
        let infill = InfillRequest { tokens: &TOKENS, spans: &SPANS, forbidden: &forbidden, ends: &[], start_token: START };
        let filled = cpu.infill(&infill, &mut go_on).await.unwrap().unwrap();
        assert_ne!(filled, free);
        for (span, filled) in SPANS.iter().zip(&filled) {
            assert_eq!(filled.len(), span.len());
            let before = if span.start == 0 { &[START] } else { &TOKENS[..span.start] };
            for i in 0..span.len() {
                let original = (i == 0).then_some(TOKENS[span.start]);
                let not: Vec<u32> = forbidden.iter().copied().chain(original).collect();
                assert_eq!(filled[i], best(&mut cpu, &[before, &filled[..i]].concat(), &not).await, "{span:?} {i}");
            }
        }
        // A span ends after its first or its second token.
        let ending = InfillRequest { ends: &[filled[0][0], filled[1][1]], ..infill.clone() };
        let ended: Vec<Vec<u32>> = filled.iter().map(|span| span_to_end(span, ending.ends)).collect();
        assert!(ended[0].len() < SPANS[0].len() && ended[1].len() < SPANS[1].len());
        assert_eq!(cpu.infill(&ending, &mut go_on).await.unwrap().unwrap(), ended);
        // Stop is possible before each token of a span, because one takes long on a slow device.
        for steps in 1..=filled.concat().len() {
            let mut left = steps;
            let mut stop = async |()| {
                left -= 1;
                if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            assert!(cpu.infill(&infill, &mut stop).await.unwrap().is_none(), "at step {steps}");
        }
        for variant in VARIANTS {
            let mut gpu = gpu(&Options { variant: Some(variant), ..Options::default() }).await;
            assert_eq!(gpu.infill(&infill, &mut go_on).await.unwrap().unwrap(), filled, "{}", variant.name);
            assert!(gpu.infill(&infill, &mut async |()| ControlFlow::Break(())).await.unwrap().is_none());
            // The text up to the last token before a span, once per call, and then each token of each span.
            assert_eq!(gpu.counters().forward_tokens, 70 + 70 + SPANS.iter().map(|span| span.len()).sum::<usize>());
            assert_eq!(gpu.infill(&ending, &mut go_on).await.unwrap().unwrap(), ended, "{}", variant.name);
        }
    });
}

#[test]
fn unknown_tokens_are_an_error_wherever_they_are() {
    pollster::block_on(async {
        let mut cpu = cpu().await;
        refuses_unknown_tokens(&mut cpu).await;
        let mut gpu = gpu(&Options::default()).await;
        refuses_unknown_tokens(&mut gpu).await;
    });
}

async fn refuses_unknown_tokens(model: &mut impl LanguageModel) {
    let is_refused = |error: &LmError| matches!(error, LmError::UnknownToken(VOCAB));
    for at in [0, 1, 2, 5, TOKENS.len() - 1] {
        let mut tokens = TOKENS;
        tokens[at] = VOCAB;
        for span in [0..2, 1..3, at..at + 1] {
            let infill = InfillRequest { tokens: &tokens, spans: &[span], forbidden: &[], ends: &[], start_token: START };
            assert!(is_refused(&model.infill(&infill, &mut go_on).await.unwrap_err()), "infill {at}");
        }
        assert!(is_refused(&model.next_token(&tokens, &mut Sampler::greedy()).await.unwrap_err()), "next {at}");
        let request = ScoreRequest::new(&tokens, 70..tokens.len(), &[]);
        assert!(is_refused(&model.score(&request, async |_, _| ControlFlow::Continue(())).await.unwrap_err()), "text {at}");
    }
    for (forbidden, start_token) in [([VOCAB], START), ([START], VOCAB)] {
        let infill = InfillRequest { tokens: &TOKENS, spans: &SPANS, forbidden: &forbidden, ends: &[], start_token };
        assert!(is_refused(&model.infill(&infill, &mut go_on).await.unwrap_err()), "{forbidden:?} {start_token}");
    }
    for (token, blend_with) in [(VOCAB, START), (START, VOCAB)] {
        let input = Input { token, blend_with, blend: 0.5 };
        let passes = [Pass { edits: vec![Edit { start: 3, inputs: vec![input] }] }];
        let request = ScoreRequest::new(&TOKENS, 70..TOKENS.len(), &passes);
        assert!(is_refused(&model.score(&request, async |_, _| ControlFlow::Continue(())).await.unwrap_err()), "{input:?}");
    }
}
