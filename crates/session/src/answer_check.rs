//! Answer classifier: two logistic classifiers over the features of an answer ([`AnswerFeatures`]) tell whether to trust it.
//! `training/calibrate.py` fitted their weights on problems that the model was not trained on. They are in `answer_checks.json`, or, for
//! older files, in the file (`glasscage.answer_check`).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::answer_features::AnswerFeatures;
use glasscage_core::explanation::AnswerWarning;
use glasscage_model::gguf::Metadata;

/// The classifiers of each model, by the SHA-256 of its file.
const CHECKS: &str = include_str!("answer_checks.json");

/// The classifiers of a model.
#[derive(Clone, Debug, Deserialize)]
pub struct AnswerCheck {
    doubtful: Classifier,
    out_of_scope: Classifier,
}

/// Applies if the bias and the weighted features add up to more than 0.
#[derive(Clone, Debug, Deserialize)]
struct Classifier {
    bias: f64,
    weights: BTreeMap<String, f64>,
}

impl Classifier {
    fn applies(&self, features: &AnswerFeatures) -> bool {
        self.bias + self.weights.iter().map(|(name, weight)| weight * features.get(name.as_str()).unwrap_or(&0.0)).sum::<f64>() > 0.0
    }
}

impl AnswerCheck {
    /// The classifiers of the model whose file has this hash and metadata. `None` if they are missing or cannot be read, because they only
    /// add a warning.
    pub fn of(sha256: &str, metadata: &Metadata) -> Option<Self> {
        let mut known: BTreeMap<String, Self> = serde_json::from_str(CHECKS).expect("calibrate.py writes valid classifiers");
        known.remove(sha256).or_else(|| serde_json::from_str(metadata.str("glasscage.answer_check").ok()??).ok())
    }

    pub fn warning(&self, features: &AnswerFeatures) -> Option<AnswerWarning> {
        if self.out_of_scope.applies(features) {
            Some(AnswerWarning::OutOfScope)
        } else if self.doubtful.applies(features) {
            Some(AnswerWarning::Doubtful)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::super::answer_features::OTHER_ANSWERS;
    use super::*;

    #[test]
    fn out_of_scope_takes_precedence_over_doubtful() {
        let check: AnswerCheck = serde_json::from_str(
            r#"{"doubtful": {"bias": -1, "weights": {"a": 2}}, "out_of_scope": {"bias": -1, "weights": {"b": 2, "unheard of": 9}}}"#,
        )
        .unwrap();
        let warning = |a: f64, b: f64| check.warning(&AnswerFeatures::from([("a", a), ("b", b)]));
        assert_eq!(warning(0.0, 0.0), None);
        assert_eq!(warning(1.0, 0.0), Some(AnswerWarning::Doubtful));
        assert_eq!(warning(1.0, 1.0), Some(AnswerWarning::OutOfScope));
    }

    #[test]
    fn classifiers_belong_to_the_file_that_ships() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models/standard");
        let part = |number| std::fs::read(format!("{folder}/standard-0000{number}-of-00003.gguf")).unwrap();
        let sha256: String = Sha256::digest([1, 2, 3].map(part).concat()).iter().map(|byte| format!("{byte:02x}")).collect();
        let check = AnswerCheck::of(&sha256, &Metadata::default()).expect("Glasscage Standard has a check");
        assert!(check.doubtful.weights.contains_key(OTHER_ANSWERS));
    }
}
