//! A tiny masked language model of the RoBERTa family with random weights, as the three files of a published model.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use serde_json::{Value, json};

/// The tokens: single characters, and one word of two characters.
pub const TEXT: [&str; 64] = [
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z", "A",
    "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z", "0", "1",
    "2", "3", "4", "6", "9", ".", "?", "\u{120}", "\u{10a}", "of",
];
const SPECIAL: [&str; 5] = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"];
const DIM: usize = 16;
const FFN: usize = 32;
const POSITIONS: usize = 66;

pub fn config() -> Value {
    json!({
        "hidden_size": DIM, "layer_norm_eps": 1e-5, "attention_probs_dropout_prob": 0.1, "hidden_dropout_prob": 0.1,
        "num_attention_heads": 2, "intermediate_size": FFN, "hidden_act": "gelu", "num_hidden_layers": 2,
        "vocab_size": TEXT.len() + SPECIAL.len(), "max_position_embeddings": POSITIONS, "type_vocab_size": 1, "pad_token_id": 1,
        "model_type": "roberta",
    })
}

/// Byte-level BPE with RoBERTa's special tokens.
fn tokenizer() -> Value {
    let ids: HashMap<&str, usize> = SPECIAL.iter().chain(&TEXT).enumerate().map(|(id, &word)| (word, id)).collect();
    let added = |(id, word): (usize, &&str)| json!({"id": id, "content": word, "special": true});
    let added: Vec<Value> = SPECIAL.iter().enumerate().map(added).collect();
    json!({"version": "1.0", "added_tokens": added, "model": {"type": "BPE", "vocab": ids, "merges": ["o f"]}})
}

/// Numbers in [-1, 1) that depend only on the name.
fn weight(name: &str, dims: &[usize]) -> Tensor {
    let seed = name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    let value = |i: usize| ((seed.wrapping_add(i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 23) as f32) - 1.0;
    Tensor::from_vec((0..dims.iter().product()).map(value).collect::<Vec<f32>>(), dims, &Device::Cpu).unwrap()
}

pub fn weights() -> HashMap<String, Tensor> {
    let vocab = TEXT.len() + SPECIAL.len();
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

/// Writes the three files of a published model.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.json"), config().to_string()).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer().to_string()).unwrap();
    candle_core::safetensors::save(&weights(), folder.join("model.safetensors")).unwrap();
    folder
}
