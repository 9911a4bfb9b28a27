//! Tests every architecture except `llama`, `qwen2` and `qwen3`: all methods, and on every engine batches, infill and answers.
//! `architectures.rs` compares scores with float64.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::slice;

use crate::is_thorough;
use crate::models::{self, SHAPES, Shape, TOKENS};
use candle_core::quantized::GgmlDType;
use glasscage::attribution::measure::measure;
use glasscage::attribution::measured::MeasureRequest;
use glasscage::attribution::{AttributionMethod, Segments, Transcript, methods};
use glasscage::cpu::CandleModel;
use glasscage::explanation::Weighting;
use glasscage::gpu::GpuModel;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::gpu::variant::VARIANTS;
use glasscage::lm::sample::Sampler;
use glasscage::lm::{Edit, InfillRequest, LanguageModel, Pass, Readout, ScoreRequest};
use glasscage::model::config::Config;
use glasscage::model::gguf::{Gguf, Value};
use glasscage::model::source::BytesInMemory;

const END: u32 = 2;
/// Tokens of an answer to the first 40 tokens: more than the keys in a window.
const ANSWER: usize = 25;

fn families() -> impl Iterator<Item = &'static Shape> {
    SHAPES.iter().filter(|shape| !["llama", "qwen2", "qwen3"].contains(&shape.architecture))
}

/// Results of one engine.
#[derive(Debug, PartialEq)]
struct Found {
    answer: Vec<u32>,
    /// The next token after more rows than pass through a layer together.
    next: u32,
    infills: Vec<Vec<u32>>,
}

async fn checked(mut model: impl LanguageModel, what: &str) -> Found {
    let together = scored(&mut model, 100).await;
    assert!(scored(&mut model, 1).await == together, "{what}: one by one");
    let answer = answer(&mut model).await;
    for end in [1, 9, 24] {
        // Read the same text at once.
        model.reset(40 + end);
        let text = [&TOKENS[..40], &answer[..end]].concat();
        assert_eq!(model.next_token(&text, &mut Sampler::greedy()).await.unwrap(), answer[end], "{what}: token {end}");
    }
    let next = after_all(&mut model, 0).await;
    assert_eq!(after_all(&mut model, 3).await, next, "{what}: in two parts");
    let infill = InfillRequest { tokens: &TOKENS, spans: &[3..6, 20..24, 41..45], forbidden: &[END], ends: &[], start_token: 1 };
    let infills = model.infill(&infill, &mut async |()| ControlFlow::Continue(())).await.unwrap().unwrap();
    Found { answer, next, infills }
}

async fn measures_by(methods: impl Iterator<Item = &'static AttributionMethod>, model: &mut impl LanguageModel, what: &str) {
    let segments = Segments { prompt: vec![2..11, 11..30], generation: vec![30..44, 44..60, 60..72] };
    let infills = (0..segments.n_sources()).map(|j| vec![5; segments.source(j).len()]).collect();
    let transcript = Transcript { tokens: TOKENS.to_vec(), generation: 30..72, end_token: END, control_tokens: vec![END], infills };
    for method in methods {
        let methods = [method];
        let request = MeasureRequest::new(&methods, &transcript, &segments);
        let measured = measure(model, &request, &mut async |_| ControlFlow::Continue(())).await;
        if method.check_model(model.config()).is_err() {
            let refused = measured.failure.map(|failure| failure.to_string());
            assert_eq!(refused.as_deref(), Some("this method reads attention, and some layers of this model have none"), "{what}");
            continue;
        }
        // Pairs are weighted by flow only if attention alone mixes tokens.
        let flow = measured.pairs.as_ref().map(|pairs| pairs.flow.is_some());
        assert!(flow.is_none_or(|has_flow| has_flow == model.config().attends_everywhere()), "{what}: {}", method.id);
        assert!(measured.failure.is_none() && measured.tables[0].n_unmeasured() == 0, "{what}: {}", method.id);
    }
}

/// The readouts of some passes, in batches of `batch` passes.
async fn scored(model: &mut impl LanguageModel, batch: usize) -> Vec<Readout> {
    let pass = |start: usize| Pass { edits: vec![Edit::new(start, &[END; 6])] };
    let passes: Vec<Pass> = [0, 7, 19, 33, 50].map(pass).into();
    let mut readouts = Vec::new();
    for some in passes.chunks(batch) {
        let request = ScoreRequest { divergences: true, ..ScoreRequest::new(&TOKENS, 40..72, some) };
        readouts.extend(crate::readouts::readouts(model, &request).await.unwrap().split_off(1));
    }
    readouts
}

/// The token after the text, read in two parts if `first` is above 0.
async fn after_all(model: &mut impl LanguageModel, first: usize) -> u32 {
    model.reset(TOKENS.len());
    if first > 0 {
        model.next_token(&TOKENS[..first], &mut Sampler::greedy()).await.unwrap();
    }
    model.next_token(&TOKENS[first..], &mut Sampler::greedy()).await.unwrap()
}

async fn answer(model: &mut impl LanguageModel) -> Vec<u32> {
    let mut sampler = Sampler::greedy();
    model.reset(40 + ANSWER);
    let mut answer = vec![model.next_token(&TOKENS[..40], &mut sampler).await.unwrap()];
    while answer.len() < ANSWER {
        answer.push(model.next_token(&answer[answer.len() - 1..], &mut sampler).await.unwrap());
    }
    answer
}

#[tokio::test]
async fn engines_agree_on_all_families() {
    for (i, shape) in families().enumerate() {
        let file = BytesInMemory(models::file(shape, GgmlDType::F32));
        let gguf = Gguf::read(&file).await.unwrap();
        let mut cpu = CandleModel::load(&file, &gguf, &mut async |_| ControlFlow::Continue(())).await.unwrap().unwrap().0;
        // Methods do not depend on the engine. One family measures by gradients, which take most of the passes, and another by all other
        // methods, unless all cases run.
        let most_passes = [usize::MAX, 1, 1, 1, 4].get(i).copied().unwrap_or(1);
        let methods = methods().filter(|method| is_thorough() || method.text().passes() <= most_passes);
        measures_by(methods, &mut cpu, shape.name).await;
        let found = checked(cpu, shape.name).await;
        // Test the variants in turn, unless all cases run.
        let variants = if is_thorough() { VARIANTS } else { slice::from_ref(&VARIANTS[i % VARIANTS.len()]) };
        for variant in variants {
            let gpu = Gpu::open(&Options { variant: Some(variant), ..Options::default() }).await.expect("a Vulkan driver");
            let model = GpuModel::load(Rc::new(gpu), &file, &gguf, &mut async |_| ControlFlow::Continue(())).await;
            let what = format!("{} on {}", shape.name, variant.name);
            assert_eq!(checked(model.unwrap().unwrap().0, &what).await, found, "{what}");
        }
    }
}

#[tokio::test]
async fn attention_methods_are_refused_without_attention() {
    let (refused, with_attention) = (["attention", "flow", "attn-ig"], ["llama", "gemma3"]);
    for shape in SHAPES {
        let bytes = models::file(shape, GgmlDType::F32);
        let config = Config::from_gguf(&Gguf::parse(&bytes, bytes.len() as u64).unwrap()).unwrap();
        let found: Vec<&str> = methods().filter(|method| method.check_model(&config).is_err()).map(|method| method.text().id).collect();
        assert_eq!(found, if config.attends_everywhere() { &[][..] } else { &refused }, "{}", shape.name);
        assert!(config.attends_everywhere() || !with_attention.contains(&shape.architecture));
        let is_weighted = methods().any(|method| method.derivation_of(&config).weighting == Weighting::Flow);
        assert_eq!(is_weighted, config.attends_everywhere(), "{}", shape.name);
    }
}

#[tokio::test]
async fn unsupported_setting_is_refused_by_name() {
    let refused = |name: &str, setting: &str, value: Value| {
        let shape = SHAPES.iter().find(|shape| shape.name == name).unwrap();
        let bytes = models::file(shape, GgmlDType::F32);
        let mut gguf = Gguf::parse(&bytes, bytes.len() as u64).unwrap();
        let key = format!("{name}.{setting}");
        gguf.metadata.set(&key, value);
        let error = Config::from_gguf(&gguf).unwrap_err().to_string();
        assert!(error.contains(&key), "{error}");
    };
    refused("gemma3", "final_logit_softcapping", Value::F64(30.0));
    refused("lfm2", "expert_count", Value::U64(8));
    refused("lfm2", "attention.head_count_kv", Value::Numbers(vec![0.0, 1.0, 2.0, 0.0, 2.0]));
    refused("qwen35", "ssm.inner_size", Value::U64(64));
    refused("granite", "expert_count", Value::U64(8));
    // OLMo 3.
    refused("olmo2", "attention.sliding_window_pattern", Value::Numbers(vec![1.0, 0.0]));
}
