//! Compares every engine on a real model with log-probabilities from other programs (llama.cpp, and float64).

use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use glasscage::cpu::CandleModel;
use glasscage::engine::Engine;
use glasscage::gpu::GpuModel;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::gpu::variant::VARIANTS;
use glasscage::lm::generate::{Beginning, generate};
use glasscage::lm::sample::Sampler;
use glasscage::lm::{Counters, Edit, LanguageModel, Pass, Readout, ScoreRequest};
use glasscage::model::gguf::Gguf;
use glasscage::model::source::NativeFile;
use glasscage::model::tokenizer::Tokenizer;
use glasscage::request::{BackendChoice, Question};
use glasscage::session::{ExplainResult, Session};
use serde_json::Value;

use crate::readouts::readouts;

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/stories260k");

fn figures() -> Value {
    serde_json::from_str(include_str!("../golden/stories260k/figures.json")).expect("the figures are JSON")
}

fn open(file: &str) -> NativeFile {
    NativeFile::open(&Path::new(MODELS).join(file)).expect("the model is in the checkout")
}

/// The model on every engine, by name.
fn engines(file: &str) -> Vec<(String, Engine)> {
    let source = open(file);
    pollster::block_on(async {
        let gguf = Gguf::read(&source).await.expect("a GGUF file");
        let (model, _) = CandleModel::load(&source, &gguf, &mut async |_| ControlFlow::Continue(())).await.unwrap().unwrap();
        let mut engines = vec![("cpu".to_owned(), Engine::Cpu(Box::new(model)))];
        for variant in VARIANTS {
            let gpu = Gpu::open(&Options { variant: Some(variant), ..Options::default() }).await.expect("a Vulkan driver");
            let model = GpuModel::load(Rc::new(gpu), &source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
            engines.push((format!("gpu {}", variant.name), Engine::Gpu(Box::new(model.unwrap().unwrap().0))));
        }
        engines
    })
}

fn tokenizer(file: &str) -> Tokenizer {
    let gguf = pollster::block_on(Gguf::read(&open(file))).expect("a GGUF file");
    Tokenizer::from_metadata(&gguf.metadata).expect("a tokenizer")
}

fn numbers<T: serde::de::DeserializeOwned>(value: &Value) -> Vec<T> {
    serde_json::from_value(value.clone()).expect("numbers")
}

fn score(lm: &mut Engine, job: &ScoreRequest<'_>) -> Vec<Readout> {
    pollster::block_on(readouts(lm, job)).expect("it scores")
}

fn largest_difference(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len(), "as many numbers as the oracle has");
    ours.iter().zip(theirs).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn greedy_text_and_ids_match_llama_cpp() {
    let figures = figures();
    let prompt: Vec<u32> = numbers(&figures["prompt_ids"]);
    let tokenizer = tokenizer("stories260k-f32.gguf");
    assert_eq!(tokenizer.encode_with_special(figures["prompt"].as_str().unwrap()), prompt);
    for (name, mut lm) in engines("stories260k-f32.gguf") {
        let mut sampler = Sampler::greedy();
        let mut go_on = async |_| ControlFlow::Continue(());
        let generated = generate(&mut lm, &tokenizer, Beginning::free(&prompt), &mut sampler, 60, None, &mut go_on);
        let generated = pollster::block_on(generated).unwrap();
        assert_eq!(generated.tokens, numbers::<u32>(&figures["greedy_ids"]), "{name}");
        let bytes: Vec<u8> = generated.tokens.iter().flat_map(|&id| tokenizer.bytes(id).to_vec()).collect();
        assert_eq!(String::from_utf8(bytes).unwrap(), figures["greedy_text"].as_str().unwrap(), "{name}");
    }
}

#[test]
fn seed_gives_same_text_on_every_engine() {
    let figures = figures();
    let prompt: Vec<u32> = numbers(&figures["prompt_ids"]);
    let tokenizer = tokenizer("stories260k-f32.gguf");
    let texts = engines("stories260k-f32.gguf").into_iter().map(|(_, mut lm)| {
        let mut sampler = Sampler::new(0.8, Some(20), Some(0.9), 7);
        let mut go_on = async |_| ControlFlow::Continue(());
        let generated = generate(&mut lm, &tokenizer, Beginning::free(&prompt), &mut sampler, 40, None, &mut go_on);
        pollster::block_on(generated).unwrap().tokens
    });
    let texts: Vec<_> = texts.collect();
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    assert_ne!(texts[0], numbers::<u32>(&figures["greedy_ids"])[..40]);
}

#[test]
fn given_answer_is_explained_like_generated_one() {
    let source = open("stories260k-f32.gguf");
    let mut go_on = async |_| ControlFlow::Continue(());
    let session = Session::load(&source, BackendChoice::Cpu, &mut go_on);
    let mut session = pollster::block_on(session).expect("it loads").expect("nothing stopped it");
    let mut explain = |answer: Option<String>| {
        let prompt = "Once upon a time, there was a girl. Her name was Lily.";
        let question = Question { answer, use_template: false, max_tokens: 40, method: "pert".into(), ..Question::greedy(prompt) };
        match pollster::block_on(session.explain(&question, &mut async |_| ControlFlow::Continue(()))) {
            Ok(ExplainResult::Explained(document)) => document,
            other => panic!("{other:?}"),
        }
    };
    let generated = explain(None);
    let given = explain(Some(generated.generation.text.clone()));
    assert_eq!(given.generation, generated.generation);
    assert_eq!(given.table, generated.table);
    assert_eq!(given.tokens, generated.tokens);
    assert_eq!((generated.check(), generated.version), (Ok(()), 3));
    let chars: Vec<char> = generated.generation.text.chars().collect();
    let pieces: String = generated.tokens.iter().flat_map(|token| &chars[token.span[0]..token.span[1]]).collect();
    assert_eq!(pieces, generated.generation.text, "the tokens tile the answer");
    assert!(generated.tokens.iter().all(|token| token.alternatives.len() == 5 && token.rivalry() <= Some(1e-6)), "it is greedy");
}

#[test]
fn log_probs_match_float64() {
    let figures = figures();
    let ids: Vec<u32> = numbers::<u32>(&figures["prompt_ids"]).into_iter().chain(numbers::<u32>(&figures["greedy_ids"])).collect();
    for file in ["stories260k-f32.gguf", "stories260k-f16.gguf", "stories260k-q8_0.gguf", "stories260k-q4_0.gguf"] {
        for (name, mut lm) in engines(file) {
            let readouts = score(&mut lm, &ScoreRequest::new(&ids, 1..ids.len(), &[]));
            let difference = largest_difference(&readouts[0].log_probs, &numbers(&figures["log_probs"][file]));
            println!("{file} on {name}: at most {difference:.1e} nat from float64");
            assert!(difference < 1e-4, "{file} on {name}: {difference}");
        }
    }
}

#[test]
fn top_tokens_match_float64_without_more_head_positions() {
    let golden: Value = serde_json::from_str(include_str!("../golden/stories260k/top_tokens.json")).expect("the tokens are JSON");
    let (ids, tokens): (Vec<u32>, Vec<Vec<u32>>) = (numbers(&golden["ids"]), numbers(&golden["tokens"]));
    let log_probs: Vec<Vec<f64>> = numbers(&golden["log_probs"]);
    let passes = [Pass { edits: vec![Edit::new(20, &[2; 5])] }];
    let plain = ScoreRequest::new(&ids, 1..ids.len(), &passes);
    for (name, mut lm) in engines("stories260k-f32.gguf") {
        let before = lm.counters();
        let without = score(&mut lm, &plain);
        let between = lm.counters();
        let with = score(&mut lm, &ScoreRequest { top_tokens: true, ..plain.clone() });
        let after = lm.counters();
        let found: Vec<Vec<u32>> = with[0].top_tokens.iter().map(|row| row.iter().map(|ranked| ranked.token).collect()).collect();
        assert_eq!(found, tokens, "{name}");
        let ours: Vec<f64> = with[0].top_tokens.iter().flatten().map(|ranked| ranked.log_prob).collect();
        let difference = largest_difference(&ours, &log_probs.concat());
        println!("{name}: at most {difference:.1e} nat from float64");
        // A probability differs by at most as much as its logarithm.
        assert!(difference < 1e-4, "{name}: {difference}");
        assert_eq!((&with[0].log_probs, &with[1]), (&without[0].log_probs, &without[1]), "{name}");
        assert!(without[0].top_tokens.is_empty() && with[1].top_tokens.is_empty(), "only the base text has them: {name}");
        let work = |before: &Counters, after: &Counters| {
            (after.forward_tokens - before.forward_tokens, after.head_positions - before.head_positions)
        };
        assert_eq!(work(&between, &after), work(&before, &between), "{name}");
    }
}

#[test]
fn replaced_sentences_match_float64_and_compute_suffixes() {
    let figures = figures();
    let case = &figures["ablation"];
    let tokens: Vec<u32> = numbers(&case["ids"]);
    let start = case["generation_start"].as_u64().unwrap() as usize;
    let ablations = case["replaced"].as_array().unwrap();
    let passes: Vec<Pass> = ablations
        .iter()
        .map(|ablation| {
            let span: Vec<usize> = numbers(&ablation["span"]);
            let end_token: u32 = serde_json::from_value(ablation["id"].clone()).unwrap();
            Pass { edits: vec![Edit::new(span[0], &vec![end_token; span[1] - span[0]])] }
        })
        .collect();
    // The base text once, then each suffix. The last token predicts nothing.
    let suffixes = passes.iter().map(|pass| tokens.len() - 1 - pass.start());
    let forward_tokens = tokens.len() - 1 + suffixes.sum::<usize>();
    let heads = passes.iter().map(|pass| tokens.len() - start.max(pass.start() + 1));
    let head_positions = tokens.len() - start + heads.sum::<usize>();
    for (name, mut lm) in engines("stories260k-f32.gguf") {
        let readouts = score(&mut lm, &ScoreRequest::new(&tokens, start..tokens.len(), &passes));
        assert!(largest_difference(&readouts[0].log_probs, &numbers(&case["log_probs"])) < 1e-4, "{name}");
        for ((readout, pass), ablation) in readouts[1..].iter().zip(&passes).zip(ablations) {
            // The float64 values include the replaced positions. A readout keeps the base values before the first edit.
            let theirs: Vec<f64> = numbers(&ablation["log_probs"]);
            let first = pass.start().saturating_sub(start) + usize::from(pass.start() >= start);
            assert!(largest_difference(&readout.log_probs[first..], &theirs[first..]) < 1e-4, "{name}");
        }
        let counters = lm.counters();
        assert_eq!((counters.forward_tokens, counters.head_positions), (forward_tokens, head_positions), "{name}");
    }
}

#[test]
fn shared_prefix_does_not_change_scores() {
    let figures = figures();
    let tokens: Vec<u32> = numbers(&figures["ablation"]["ids"]);
    let passes: Vec<Pass> = [5, 32, 48].iter().map(|&start| Pass { edits: vec![Edit::new(start, &[2; 13])] }).collect();
    let targets = 62..tokens.len();
    for (name, mut lm) in engines("stories260k-q8_0.gguf") {
        let together = score(&mut lm, &ScoreRequest::new(&tokens, targets.clone(), &passes));
        for (i, pass) in passes.iter().enumerate() {
            let alone = score(&mut lm, &ScoreRequest::new(&tokens, targets.clone(), std::slice::from_ref(pass)));
            let naive = score(&mut lm, &ScoreRequest::new(&pass.apply(&tokens), targets.clone(), &[]));
            assert!(largest_difference(&together[i + 1].log_probs, &alone[1].log_probs) < 1e-4, "{name}");
            assert!(largest_difference(&together[i + 1].log_probs, &naive[0].log_probs) < 1e-4, "{name}");
        }
    }
}
