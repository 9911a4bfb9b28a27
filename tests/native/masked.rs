//! ReAGent with a masked language model: a tiny one with random weights, created here.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use crate::masked_model::{TEXT, config, folder, weights};
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::xlm_roberta::{Config, XLMRobertaForMaskedLM};
use glasscage::engine::{MaskedLm, MaskedLmError};
use glasscage::model::source::NativeFile;
use glasscage::request::{BackendChoice, ExplainProgress, Question};
use glasscage::session::{ExplainResult, Session};
use serde_json::json;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf");

fn masked_lm(folder: &Path) -> MaskedLm {
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    MaskedLm::load(&read("config.json"), &read("tokenizer.json"), read("model.safetensors")).unwrap()
}

/// The most likely text in place of the `None`s, directly from candle-transformers.
fn by_hand(text: &[Option<&str>]) -> String {
    let mut config = config();
    config["position_embedding_type"] = "absolute".into();
    let config: Config = serde_json::from_value(config).unwrap();
    let weights = weights();
    let bias = weights["lm_head.bias"].clone();
    let model = XLMRobertaForMaskedLM::new(&config, VarBuilder::from_tensors(weights, DType::F32, &Device::Cpu)).unwrap();
    let id = |piece: &Option<&str>| piece.map_or(4, |piece| TEXT.iter().position(|&known| known == piece).unwrap() as u32 + 5);
    let ids: Vec<u32> = [0].into_iter().chain(text.iter().map(id)).chain([2]).collect();
    let input = Tensor::new(&ids[..], &Device::Cpu).unwrap().unsqueeze(0).unwrap();
    let (ones, zeros) = (input.ones_like().unwrap(), input.zeros_like().unwrap());
    let logits = model.forward(&input, &ones, &zeros, None, None, None).unwrap().broadcast_add(&bias).unwrap();
    let rows = logits.squeeze(0).unwrap().to_vec2::<f32>().unwrap();
    let best = |row: &Vec<f32>| TEXT[(0..TEXT.len()).max_by(|&a, &b| row[a + 5].total_cmp(&row[b + 5])).unwrap()];
    let filled: String = ids.iter().zip(&rows).filter(|(id, _)| **id == 4).map(|(_, row)| best(row)).collect();
    filled.replace('\u{120}', " ").replace('\u{10a}', "\n")
}

#[test]
fn gap_is_filled_with_most_likely_tokens() {
    let masked_lm = masked_lm(&folder("masked"));
    let text = "6 pots of tea. Tom";
    let space = Some("\u{120}");
    let [start, end] = [
        [
            Some("6"),
            space,
            Some("p"),
            Some("o"),
            Some("t"),
            Some("s"),
            space,
            Some("of"),
            space,
            Some("t"),
            Some("e"),
            Some("a"),
            Some("."),
        ],
        [None; 13],
    ];
    let name = [space, Some("T"), Some("o"), Some("m")];
    assert_eq!(masked_lm.fill(text, &(14..18)).unwrap(), by_hand(&[&start[..], &[None; 4]].concat()));
    assert_eq!(masked_lm.fill(text, &(0..14)).unwrap(), by_hand(&[&end[..], &name].concat()));
    // Longer than the model can read.
    let long = "Tom has. ".repeat(40);
    assert!(!masked_lm.fill(&long, &(180..188)).unwrap().is_empty());
}

#[test]
fn non_finite_weights_are_reported() {
    let folder = folder("not-a-number");
    let mut weights = weights();
    let mut values = weights["lm_head.bias"].to_vec1::<f32>().unwrap();
    values[7] = f32::NAN;
    weights.insert("lm_head.bias".into(), Tensor::new(values, &Device::Cpu).unwrap());
    candle_core::safetensors::save(&weights, folder.join("model.safetensors")).unwrap();
    let error = masked_lm(&folder).fill("Tom has 6.", &(4..7)).unwrap_err().to_string();
    assert!(error.contains("not a number"), "{error}");
}

#[test]
fn non_masked_models_are_refused() {
    let folder = folder("not-masked");
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let load = |config: &[u8], tokenizer: &[u8], weights: Vec<u8>| MaskedLm::load(config, tokenizer, weights).err().unwrap();
    let [config, tokenizer] = ["config.json", "tokenizer.json"].map(read);
    assert!(matches!(load(b"{}", &tokenizer, Vec::new()), MaskedLmError::Config(_)));
    assert!(matches!(load(&config, b"{}", Vec::new()), MaskedLmError::Tokenizer(_)));
    let (heads, epsilon) = ("num_attention_heads", "layer_norm_eps");
    for (field, damaged) in [(heads, json!(0)), (heads, json!(3)), (epsilon, json!(1e300)), (epsilon, json!(0.0))] {
        let mut config = crate::masked_model::config();
        config[field] = damaged;
        assert!(matches!(load(config.to_string().as_bytes(), &tokenizer, Vec::new()), MaskedLmError::Config(_)), "{config}");
    }
    let far = String::from_utf8(tokenizer.clone()).unwrap().replacen("\"id\":0,", &format!("\"id\":{},", u64::MAX), 1);
    assert!(matches!(load(&config, far.as_bytes(), Vec::new()), MaskedLmError::Tokenizer(_)));
    assert!(matches!(load(&config, &tokenizer, b"weights".to_vec()), MaskedLmError::Weights(_)));
    let unmasked = String::from_utf8(tokenizer.clone()).unwrap().replace("<mask>", "<task>");
    assert!(matches!(load(&config, unmasked.as_bytes(), read("model.safetensors")), MaskedLmError::NoMask));
}

#[test]
fn explaining_needs_masked_language_model() {
    pollster::block_on(async {
        let source = NativeFile::open(Path::new(DEMO)).expect("the demo model is in the checkout");
        let loaded = Session::load(&source, BackendChoice::Cpu, &mut async |_| ControlFlow::Continue(())).await;
        let mut session = loaded.unwrap().unwrap();
        let question = Question {
            method: "reagent-mlm".into(),
            ..Question::greedy("Tom has 6 apples. He eats 2 of them. How many apples does Tom have?")
        };
        let problem = session.explain(&question, &mut async |_| ControlFlow::Continue(())).await.unwrap_err();
        assert!(problem.to_string().contains("masked language model"), "{problem}");
        session.masked_lm = Some(Rc::new(masked_lm(&folder("masked-in-session"))));
        let ExplainResult::Explained(document) = session.explain(&question, &mut async |_| ControlFlow::Continue(())).await.unwrap() else {
            panic!("it was explained");
        };
        assert!(document.is_complete());
        assert_eq!(document.method.id, "reagent-mlm");
        // Other words for the first sentence make the answer less likely.
        assert!(document.table.row(0)[0].unwrap() > 0.1);
        // Each infill is a step that can be stopped.
        let (mut answered, mut infills) = (false, 0);
        let mut stop_at_second_infill = async |progress| {
            answered |= matches!(progress, ExplainProgress::Answered(_));
            infills += usize::from(answered && matches!(progress, ExplainProgress::Pass { done: 0, .. }));
            if infills < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let stopped = session.explain(&question, &mut stop_at_second_infill).await;
        let Ok(ExplainResult::Explained(document)) = stopped else { panic!("it was stopped") };
        assert!(document.table.rows().flatten().all(Option::is_none) && document.method.passes[0] == 0);
    });
}
