//! Submissions of any size, Stop between submissions, and tokens that are computed ahead.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use glasscage::attribution::deletion::deletion_scores;
use glasscage::attribution::measure::measure;
use glasscage::attribution::measured::MeasureRequest;
use glasscage::attribution::{Segments, Transcript, methods};
use glasscage::cpu::CandleModel;
use glasscage::gpu::GpuModel;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::gpu::variant::VARIANTS;
use glasscage::lm::generate::{Beginning, StopReason, generate};
use glasscage::lm::sample::Sampler;
use glasscage::lm::{Edit, InfillRequest, Infills, LanguageModel, LmError, Pass, Readout, ScoreRequest};
use glasscage::model::gguf::Gguf;
use glasscage::model::source::NativeFile;
use glasscage::model::tokenizer::Tokenizer;
use glasscage::table::Table;

use crate::readouts::readouts;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf");
const PROMPT: [u32; 5] = [1, 20, 33, 47, 5];

/// Limits that give one dispatch per submission to all dispatches together.
const PACES: [f64; 3] = [1.0, 1e7, f64::INFINITY];

async fn file() -> (NativeFile, Gguf) {
    let source = NativeFile::open(Path::new(DEMO)).expect("the demo model is in the checkout");
    let gguf = Gguf::read(&source).await.expect("a GGUF file");
    (source, gguf)
}

async fn demo(options: &Options) -> GpuModel {
    let (source, gguf) = file().await;
    let gpu = Gpu::open(options).await.expect("a Vulkan driver");
    let loaded = GpuModel::load(Rc::new(gpu), &source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
    loaded.expect("it loads").expect("nothing stopped it").0
}

async fn at_pace(operations: f64) -> GpuModel {
    demo(&Options { operations_per_submission: Some(operations), ..Options::default() }).await
}

pub async fn on_cpu() -> CandleModel {
    let (source, gguf) = file().await;
    let loaded = CandleModel::load(&source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
    loaded.expect("it loads").expect("nothing stopped it").0
}

/// Everything that a method may request, for a text of 40 tokens.
async fn score(model: &mut GpuModel) -> Result<Vec<Readout>, LmError> {
    let tokens: Vec<u32> = (0..40).map(|i| i * 13 % 200).collect();
    let passes: Vec<Pass> = [0, 10, 30, 38].map(|start| Pass { edits: vec![Edit::new(start, &[1])] }).into();
    let job = ScoreRequest { divergences: true, attended: &[3..9, 9..25], ..ScoreRequest::new(&tokens, 20..40, &passes) };
    readouts(model, &job).await
}

async fn infill(model: &mut GpuModel) -> Result<Option<Infills>, LmError> {
    let infill = InfillRequest { tokens: &[7; 30], spans: &[4..6, 17..20], forbidden: &[1, 2], ends: &[], start_token: 0 };
    model.infill(&infill, &mut async |()| ControlFlow::Continue(())).await
}

/// Generates `n` tokens, and reads each one.
async fn tokens(model: &mut impl LanguageModel, sampler: &mut Sampler, n: usize) -> Vec<u32> {
    model.reset(PROMPT.len() + n);
    let mut tokens = vec![model.next_token(&PROMPT, sampler).await.expect("a token")];
    while tokens.len() < n {
        tokens.push(model.next_token(&tokens[tokens.len() - 1..], sampler).await.expect("a token"));
    }
    tokens
}

#[tokio::test]
async fn pace_does_not_change_bits() {
    for variant in VARIANTS {
        let mut all = Vec::new();
        let mut submissions = Vec::new();
        for pace in PACES.map(Some).into_iter().chain([None]) {
            let mut model = demo(&Options { variant: Some(variant), operations_per_submission: pace, ..Options::default() }).await;
            let scores = score(&mut model).await.expect("it scores");
            submissions.push(model.counters().submissions);
            let tokens = tokens(&mut model, &mut Sampler::greedy(), 6).await;
            all.push((scores, tokens, infill(&mut model).await.expect("it fills the spans")));
        }
        assert!(all.iter().all(|results| *results == all[0]), "{}", variant.name);
        println!("{}: {submissions:?} submissions", variant.name);
        assert!(submissions[..3].is_sorted_by(|more, fewer| more > fewer), "{submissions:?}");
    }
}

#[tokio::test]
async fn stop_takes_effect_between_submissions() {
    let mut model = at_pace(1.0).await;
    let scores = score(&mut model).await.expect("it scores");
    for allowed in [0, 1, 30, 100] {
        let (asked, at_stop) = (Rc::<Cell<usize>>::default(), Rc::<Cell<usize>>::default());
        let (count, submissions, stats) = (asked.clone(), at_stop.clone(), model.gpu().stats.clone());
        model.gpu().is_stopped.replace(Rc::new(move || {
            count.set(count.get() + 1);
            submissions.set(stats.submissions.get());
            count.get() > allowed
        }));
        assert!(matches!(score(&mut model).await, Err(LmError::Stopped)));
        assert_eq!((asked.get(), model.counters().submissions), (allowed + 1, at_stop.get()));
        asked.set(0);
        assert!(matches!(infill(&mut model).await, Err(LmError::Stopped)));
        model.gpu().is_stopped.replace(Rc::new(|| false));
        assert!(score(&mut model).await.expect("it scores") == scores, "the run after a stop is complete");
    }
}

#[tokio::test]
async fn stop_while_reading_prompt_ends_answer() {
    let (_, gguf) = file().await;
    let tokenizer = Tokenizer::from_metadata(&gguf.metadata).expect("a tokenizer");
    let mut model = at_pace(1.0).await;
    model.gpu().is_stopped.replace(Rc::new(|| true));
    let mut go_on = async |_| ControlFlow::Continue(());
    let beginning = Beginning::free(&PROMPT);
    let generated = generate(&mut model, &tokenizer, beginning, &mut Sampler::greedy(), 9, None, &mut go_on).await.expect("it ends");
    assert_eq!((generated.tokens, generated.stop), (Vec::new(), StopReason::Canceled));
}

#[tokio::test]
async fn stopped_method_has_not_failed() {
    let segments = Segments { prompt: vec![2..11, 11..30], generation: vec![30..44, 44..60, 60..72] };
    let infills = (0..segments.n_sources()).map(|j| vec![5; segments.source(j).len()]).collect();
    let tokens = (0..72).map(|i| i * 13 % 200).collect();
    let transcript = Transcript { tokens, generation: 30..72, end_token: 2, control_tokens: vec![2], infills };
    let mut model = at_pace(1.0).await;
    for method in methods() {
        let asked = Cell::new(0);
        model.gpu().is_stopped.replace(Rc::new(move || asked.replace(asked.get() + 1) >= 5));
        let methods = [method];
        let request = MeasureRequest::new(&methods, &transcript, &segments);
        let measured = measure(&mut model, &request, &mut async |_| ControlFlow::Continue(())).await;
        assert!(measured.failure.is_none(), "{}: {:?}", method.id, measured.failure);
        assert!(measured.tables[0] == Table::unmeasured(2, 3), "{}", method.id);
    }
    let curves = deletion_scores(&mut model, &transcript, &segments, &[vec![0, 1]], &mut async |_| ControlFlow::Continue(())).await;
    assert_eq!(curves.expect("it ends"), None);
}

#[tokio::test]
async fn tokens_in_flight_equal_consecutive_tokens() {
    let (mut gpu, mut cpu) = (at_pace(f64::INFINITY).await, on_cpu().await);
    for sampler in [Sampler::greedy(), Sampler::new(0.9, Some(40), Some(0.95), 3), Sampler::new(1.3, None, None, 4)] {
        let expected = tokens(&mut cpu, &mut sampler.clone(), 40).await;
        assert_eq!(tokens(&mut gpu, &mut sampler.clone(), 40).await, expected);
    }
}

/// The text continues with another token than the sampled one, with other draws, and from the start.
#[tokio::test]
async fn discarded_tokens_leave_no_trace() {
    let (mut gpu, mut cpu) = (at_pace(f64::INFINITY).await, on_cpu().await);
    let mut answers = [Vec::new(), Vec::new()];
    for sampler in [Sampler::greedy(), Sampler::new(0.9, Some(40), None, 5)] {
        async fn answer(model: &mut impl LanguageModel, mut sampler: Sampler) -> Vec<u32> {
            let mut answer = Vec::new();
            for _ in 0..2 {
                model.reset(60);
                let mut token = model.next_token(&PROMPT, &mut sampler).await.expect("a token");
                for i in 0..30_u32 {
                    let next: &[u32] = match i % 7 {
                        3 => &[11 + i],
                        5 => &[9, 8, token],
                        _ => &[token],
                    };
                    if i == 20 {
                        sampler.draw();
                    }
                    token = model.next_token(next, &mut sampler).await.expect("a token");
                    answer.push(token);
                }
            }
            answer
        }
        answers[0].extend(answer(&mut gpu, sampler.clone()).await);
        answers[1].extend(answer(&mut cpu, sampler).await);
    }
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test]
async fn no_token_is_computed_beyond_end_of_text() {
    let mut model = at_pace(f64::INFINITY).await;
    let before = model.counters().forward_tokens;
    tokens(&mut model, &mut Sampler::greedy(), 20).await;
    assert_eq!(model.counters().forward_tokens - before, PROMPT.len() + 19 + 1);
}
