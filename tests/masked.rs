//! ReAGent with a masked language model: a tiny one with random weights, made here.

#![cfg(not(target_arch = "wasm32"))]

use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::xlm_roberta::{Config, XLMRobertaForMaskedLM};
use glasscage::cpu::masked::{MaskedLm, MaskedLmError};
use glasscage::model::source::NativeFile;
use glasscage::session::{Outcome, Session};
use glasscage::worker::protocol::{BackendChoice, Question};
use serde_json::{Value, json};

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/public/models/demo.gguf");
const WORDS: [&str; 12] = ["Tom", "has", "6", "apples", "He", "eats", "2", "of", "them", "How", "many", "pears"];
const DIM: usize = 16;
const FFN: usize = 32;
const POSITIONS: usize = 34;

fn config() -> Value {
    json!({
        "hidden_size": DIM, "layer_norm_eps": 1e-5, "attention_probs_dropout_prob": 0.1, "hidden_dropout_prob": 0.1,
        "num_attention_heads": 2, "intermediate_size": FFN, "hidden_act": "gelu", "num_hidden_layers": 2,
        "vocab_size": WORDS.len() + 5, "max_position_embeddings": POSITIONS, "type_vocab_size": 1, "pad_token_id": 1,
        "model_type": "roberta",
    })
}

/// One token a word; those that are special as RoBERTa has them.
fn tokenizer() -> Value {
    let special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"];
    let ids: HashMap<&str, usize> = special.iter().chain(&WORDS).enumerate().map(|(id, &word)| (word, id)).collect();
    let added: Vec<Value> = special
        .iter()
        .enumerate()
        .map(|(id, word)| json!({"id": id, "content": word, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}))
        .collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": null,
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": ids, "unk_token": "<unk>"},
    })
}

/// Numbers in [-1, 1), the same for the same name.
fn weight(name: &str, dims: &[usize]) -> Tensor {
    let seed = name.bytes().fold(7u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    let value = |i: usize| ((seed.wrapping_add(i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 23) as f32) - 1.0;
    Tensor::from_vec((0..dims.iter().product()).map(value).collect::<Vec<f32>>(), dims, &Device::Cpu).unwrap()
}

fn weights() -> HashMap<String, Tensor> {
    let vocab = WORDS.len() + 5;
    let mut dims: Vec<(String, Vec<usize>)> = vec![
        ("roberta.embeddings.word_embeddings.weight".into(), vec![vocab, DIM]),
        ("roberta.embeddings.position_embeddings.weight".into(), vec![POSITIONS, DIM]),
        ("roberta.embeddings.token_type_embeddings.weight".into(), vec![1, DIM]),
        ("lm_head.bias".into(), vec![vocab]),
    ];
    let mut linear = |name: &str, rows: usize, columns: usize| {
        dims.push((format!("{name}.weight"), if columns > 0 { vec![rows, columns] } else { vec![rows] }));
        dims.push((format!("{name}.bias"), vec![rows]));
    };
    linear("roberta.embeddings.LayerNorm", DIM, 0);
    linear("lm_head.dense", DIM, DIM);
    linear("lm_head.layer_norm", DIM, 0);
    for i in 0..2 {
        let layer = format!("roberta.encoder.layer.{i}");
        for part in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"] {
            linear(&format!("{layer}.{part}"), DIM, DIM);
        }
        linear(&format!("{layer}.attention.output.LayerNorm"), DIM, 0);
        linear(&format!("{layer}.intermediate.dense"), FFN, DIM);
        linear(&format!("{layer}.output.dense"), DIM, FFN);
        linear(&format!("{layer}.output.LayerNorm"), DIM, 0);
    }
    dims.into_iter().map(|(name, dims)| (name.clone(), weight(&name, &dims))).collect()
}

/// The three files, as they are published.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.json"), config().to_string()).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer().to_string()).unwrap();
    candle_core::safetensors::save(&weights(), folder.join("model.safetensors")).unwrap();
    folder
}

fn masked_lm(folder: &Path) -> MaskedLm {
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    MaskedLm::load(&read("config.json"), &read("tokenizer.json"), read("model.safetensors")).unwrap()
}

/// The most likely words in place of the masks, straight from candle-transformers.
fn by_hand(words: &[&str]) -> Vec<&'static str> {
    let mut config = config();
    config["position_embedding_type"] = "absolute".into();
    let config: Config = serde_json::from_value(config).unwrap();
    let weights = weights();
    let bias = weights["lm_head.bias"].clone();
    let model = XLMRobertaForMaskedLM::new(&config, VarBuilder::from_tensors(weights, DType::F32, &Device::Cpu)).unwrap();
    let id = |word: &&str| WORDS.iter().position(|known| known == word).map_or(4, |id| id + 5) as u32;
    let ids: Vec<u32> = [0].into_iter().chain(words.iter().map(id)).chain([2]).collect();
    let input = Tensor::new(&ids[..], &Device::Cpu).unwrap().unsqueeze(0).unwrap();
    let (ones, zeros) = (input.ones_like().unwrap(), input.zeros_like().unwrap());
    let logits = model.forward(&input, &ones, &zeros, None, None, None).unwrap().broadcast_add(&bias).unwrap();
    let rows = logits.squeeze(0).unwrap().to_vec2::<f32>().unwrap();
    let best = |row: &Vec<f32>| WORDS[(0..WORDS.len()).max_by(|&a, &b| row[a + 5].total_cmp(&row[b + 5])).unwrap()];
    ids.iter().zip(&rows).filter(|(id, _)| **id == 4).map(|(_, row)| best(row)).collect()
}

#[test]
fn a_gap_is_filled_at_once_by_the_most_likely_words() {
    let masked_lm = masked_lm(&folder("masked"));
    let text = "Tom has 6 apples He eats 2 of them";
    assert_eq!(masked_lm.fill(text, &(17..34)).unwrap(), by_hand(&["Tom", "has", "6", "apples", "", "", "", "", ""]).join(" "));
    assert_eq!(masked_lm.fill(text, &(0..16)).unwrap(), by_hand(&["", "", "", "", "He", "eats", "2", "of", "them"]).join(" "));
    // Longer than it can read.
    let long = "Tom has ".repeat(40);
    assert_eq!(masked_lm.fill(&long, &(160..167)).unwrap().split(' ').count(), 2);
}

#[test]
fn what_is_no_masked_language_model_is_refused() {
    let folder = folder("not-masked");
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let load = |config: &[u8], tokenizer: &[u8], weights: Vec<u8>| MaskedLm::load(config, tokenizer, weights).err().unwrap();
    let [config, tokenizer] = ["config.json", "tokenizer.json"].map(read);
    assert!(matches!(load(b"{}", &tokenizer, Vec::new()), MaskedLmError::Config(_)));
    assert!(matches!(load(&config, b"{}", Vec::new()), MaskedLmError::Tokenizer(_)));
    assert!(matches!(load(&config, &tokenizer, b"weights".to_vec()), MaskedLmError::Weights(_)));
    let unmasked = String::from_utf8(tokenizer.clone()).unwrap().replace("<mask>", "<task>");
    assert!(matches!(load(&config, unmasked.as_bytes(), read("model.safetensors")), MaskedLmError::NoMask));
}

#[test]
fn a_masked_language_model_explains_and_without_one_the_visitor_is_told() {
    pollster::block_on(async {
        let source = NativeFile::open(Path::new(DEMO)).expect("the demo model is in the checkout");
        let loaded = Session::load(&source, BackendChoice::Cpu, async |_| ControlFlow::Continue(())).await;
        let mut session = loaded.unwrap().unwrap();
        let question = Question {
            method: "reagent-mlm".into(),
            ..Question::greedy("Tom has 6 apples. He eats 2 of them. How many apples does Tom have?")
        };
        let problem = session.explain(&question, async |_| ControlFlow::Continue(())).await.unwrap_err();
        assert!(problem.to_string().contains("masked language model"), "{problem}");
        session.masked_lm = Some(Rc::new(masked_lm(&folder("masked-in-session"))));
        let Outcome::Explained(document) = session.explain(&question, async |_| ControlFlow::Continue(())).await.unwrap() else {
            panic!("it was explained");
        };
        assert!(document.is_complete());
        assert_eq!(document.method.id, "reagent-mlm");
        // Other words for the first sentence make the answer less likely.
        assert!(document.table.row(0)[0].unwrap() > 0.1);
    });
}
