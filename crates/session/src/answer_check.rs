//! Answer classifier: two logistic classifiers over the features of an answer ([`AnswerFeatures`]) tell whether to trust it. Their weights
//! are in the model's file (`glasscage.answer_check`). `training/calibrate.py` fitted them on problems that the model was not trained on.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::answer_features::AnswerFeatures;
use glasscage_core::explanation::AnswerWarning;
use glasscage_model::gguf::Metadata;

/// The classifiers from a model's file.
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
    /// Reads the classifiers from a model's file. `None` if they are missing or cannot be read, because they only add a warning.
    pub fn from_metadata(metadata: &Metadata) -> Option<Self> {
        serde_json::from_str(metadata.str("glasscage.answer_check").ok()??).ok()
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
}
