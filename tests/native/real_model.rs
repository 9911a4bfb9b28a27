//! The command line with real models, compared with transformers, and their tokenizers, compared with Hugging Face's.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use glasscage::model::gguf::Gguf;
use glasscage::model::tokenizer::{TokenId, Tokenizer};
use miniz_oxide::inflate::decompress_to_vec_zlib;

use crate::cli::glasscage;
use crate::real::{GEMMA3, RealModel, SMOLLM2};

/// More than the metadata of either model takes, in bytes.
const METADATA_BYTES: u64 = 32 << 20;

#[test]
fn smollm2_answers_and_scores_like_transformers() {
    check_explanation(&SMOLLM2, "smollm2.json", &[]);
}

#[test]
fn gemma3_answers_and_scores_like_transformers() {
    check_explanation(&GEMMA3, "gemma3.json", &["--max-tokens", "24"]);
}

#[test]
fn smollm2_ids_match_hugging_face() {
    check_ids(&SMOLLM2, "smollm2");
}

#[test]
fn gemma3_ids_match_hugging_face() {
    check_ids(&GEMMA3, "gemma3");
}

fn check_explanation(model: &RealModel, file: &str, more: &[&str]) {
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file).display().to_string();
    let prompt = model.expected().prompt.text.clone();
    let asked = ["explain", "--model", &model.file(), "--method", "pert", "--prompt", &prompt, "--json", &json];
    let output = glasscage(&[&asked, more].concat(), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    model.assert_expected(&std::fs::read_to_string(&json).expect("the explanation"));
}

/// Checks the ids of 2,000 texts, which `tests/golden/tokenizers/real_models.py` made with the Hugging Face library `tokenizers`.
fn check_ids(model: &RealModel, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tokenizers/real-models.jsonl.zlib");
    let lines = decompress_to_vec_zlib(&std::fs::read(path).expect("the texts")).expect("a zlib stream");
    let tokenizer = tokenizer(model);
    let cases = serde_json::Deserializer::from_slice(&lines).into_iter::<serde_json::Value>().map(|case| case.expect("JSON"));
    let mut n_cases = 0;
    for case in cases {
        let text = case["text"].as_str().expect("a text");
        let expected: Vec<TokenId> = serde_json::from_value(case[name].clone()).expect("ids");
        let found: Vec<TokenId> = tokenizer.encode(text).into_iter().map(|token| token.id).collect();
        assert_eq!(found, expected, "{text:?}");
        n_cases += 1;
    }
    assert_eq!(n_cases, 2_000, "all texts are there");
}

fn tokenizer(model: &RealModel) -> Tokenizer {
    let file = File::open(model.file()).expect("the model");
    let length = file.metadata().expect("its length").len();
    let mut start = Vec::new();
    file.take(METADATA_BYTES).read_to_end(&mut start).expect("its metadata");
    let gguf = Gguf::parse(&start, length).expect("a GGUF file");
    Tokenizer::from_metadata(&gguf.metadata).expect("a tokenizer")
}
