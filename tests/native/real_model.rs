//! The command line with a real model, compared with transformers.

use std::path::Path;

use crate::cli::glasscage;
use crate::smollm2::{assert_expected, expected, model_file};

#[test]
fn smollm2_answers_and_scores_like_transformers() {
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join("smollm2.json").display().to_string();
    let prompt = expected().prompt.text.clone();
    let output = glasscage(&["explain", "--model", &model_file(), "--method", "pert", "--prompt", &prompt, "--json", &json], "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_expected(&std::fs::read_to_string(&json).expect("the explanation"));
}
