//! Real models, and the explanations that Hugging Face transformers makes of their answers.

use glasscage::explanation::{Document, Token};
use glasscage::shares::Shares;

/// Largest difference between scores of an engine and scores in float64, in nats.
const TOLERANCE: f64 = 1e-4;
/// Alternatives whose log-probabilities differ by less may be in another order, in nats.
const NEARLY_EQUAL: f64 = 1e-3;
/// Largest difference between shares.
const SHARE_TOLERANCE: f64 = 1e-3;

/// A model file of `PyPI`, and its answer with an explanation by the method Pert., computed by `tests/golden/real_models.py` in float64.
pub struct RealModel {
    variable: &'static str,
    explanation: &'static str,
}

pub const SMOLLM2: RealModel = RealModel { variable: "GLASSCAGE_SMOLLM2", explanation: include_str!("../golden/smollm2.json") };
pub const GEMMA3: RealModel = RealModel { variable: "GLASSCAGE_GEMMA3", explanation: include_str!("../golden/gemma3.json") };

impl RealModel {
    /// Path of the model file. `cargo xtask test` downloads the file and sets the variable.
    pub fn file(&self) -> String {
        let variable = self.variable;
        std::env::var(variable).unwrap_or_else(|_| panic!("{variable} names the model file; cargo xtask test sets it"))
    }

    pub fn expected(&self) -> Document {
        Document::from_json(self.explanation).expect("an explanation")
    }

    /// Panics unless `json` is an explanation with the same answer, scores, support and shares.
    pub fn assert_expected(&self, json: &str) {
        let (found, expected) = (Document::from_json(json).expect("an explanation"), self.expected());
        assert_eq!(found.generation.text, expected.generation.text, "the answer");
        assert_near("scores", &found, &expected, TOLERANCE, |document| document.table.rows().flatten().copied().collect());
        assert_near("support", &found, &expected, TOLERANCE, |document| document.support.iter().copied().map(Some).collect());
        assert_near("probabilities", &found, &expected, TOLERANCE, |document| {
            let alternatives = |token: &Token| token.alternatives.iter().map(|other| other.log_probability).collect::<Vec<f64>>();
            let of_token = |token: &Token| [vec![token.log_probability], alternatives(token)].concat();
            document.tokens.iter().flat_map(of_token).map(|log_probability| Some(log_probability.exp())).collect()
        });
        for (found, expected) in found.tokens.iter().zip(&expected.tokens) {
            assert_eq!(found.span, expected.span, "the place of a token");
            let texts = |token: &Token| token.alternatives.iter().map(|other| other.text.clone()).collect::<Vec<String>>();
            let is_clear = expected.alternatives.is_sorted_by(|a, b| a.log_probability > b.log_probability + NEARLY_EQUAL);
            assert!(!is_clear || texts(found) == texts(expected), "{found:?} {expected:?}");
        }
        assert_near("shares", &found, &expected, SHARE_TOLERANCE, |document| {
            let shares = Shares::of(document);
            (0..shares.n_sources()).flat_map(|j| shares.amounts(j)).collect()
        });
    }
}

/// Panics unless the numbers of both documents differ by at most `tolerance`.
fn assert_near(what: &str, found: &Document, expected: &Document, tolerance: f64, numbers: impl Fn(&Document) -> Vec<Option<f64>>) {
    let numbers = |document| numbers(document).into_iter().map(|number| number.expect("it is measured")).collect::<Vec<f64>>();
    let (found, expected) = (numbers(found), numbers(expected));
    assert_eq!(found.len(), expected.len(), "{what} of the same sentences");
    let difference = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs()).fold(0.0, f64::max);
    println!("{what}: at most {difference:.1e} from float64");
    assert!(difference <= tolerance, "{what}: {difference:.1e}: {found:?}");
}
