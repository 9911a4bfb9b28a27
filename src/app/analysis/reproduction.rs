//! Compares a shared explanation with the same explanation recomputed here.

use super::number::with_point;
use crate::app::i18n::t;
use crate::explanation::Document;

/// Largest difference of equal scores, in nats per token. Two engines round differently, and a link keeps 16 bits of each score.
const SAME_NATS: f64 = 0.005;

/// Result of comparing a shared explanation with the one computed here.
#[derive(Clone, Debug, PartialEq)]
pub enum Reproduction {
    /// The same answer and scores. Contains the largest difference, in nats per token.
    Same(f64),
    /// The same answer with different scores. Contains the largest difference, in nats per token.
    OtherScores(f64),
    OtherAnswer,
    /// The model files differ.
    OtherModel {
        shared: String,
        own: String,
    },
    /// At least one of the two explanations was stopped early.
    Partial,
}

impl Reproduction {
    pub fn of(shared: &Document, own: &Document) -> Self {
        let (there, here) = (&shared.manifest.model, &own.manifest.model);
        if there.sha256 != here.sha256 {
            return Self::OtherModel { shared: there.name.clone(), own: here.name.clone() };
        }
        if shared.generation != own.generation || shared.prompt != own.prompt {
            return Self::OtherAnswer;
        }
        if !shared.is_complete() || !own.is_complete() {
            return Self::Partial;
        }
        let pairs = shared.table.rows().flatten().zip(own.table.rows().flatten());
        let differences = pairs.map(|(there, here)| (there.unwrap_or(0.0) - here.unwrap_or(0.0)).abs());
        let largest = differences.fold(0.0, f64::max);
        if largest <= SAME_NATS { Self::Same(largest) } else { Self::OtherScores(largest) }
    }

    pub fn is_same(&self) -> bool {
        matches!(self, Self::Same(_))
    }

    pub fn words(&self) -> String {
        let digits = |nats: &f64| with_point(&format!("{nats:.4}"));
        match self {
            Self::Same(nats) if *nats < 0.00005 => t!("Reproduced here: the same answer, and the same scores to four digits.").into(),
            Self::Same(nats) => {
                t!("Reproduced here: the same answer, and no score differs by more than {nats} nats per token.", nats = digits(nats))
            }
            Self::OtherScores(nats) => t!(
                "Not reproduced: the answer is the same, but scores differ by up to {nats} nats per token. Compare the engines below.",
                nats = digits(nats),
            ),
            Self::OtherAnswer => {
                t!("Not reproduced: the same model file answers differently here. Compare the settings and engines below.").into()
            }
            Self::OtherModel { shared, own } if shared == own => {
                t!("Not comparable: both models are called \u{201c}{own}\u{201d}, but their files differ.", own)
            }
            Self::OtherModel { shared, own } => {
                t!("Not comparable: the shared explanation is of \u{201c}{shared}\u{201d}, this one of \u{201c}{own}\u{201d}.", shared, own)
            }
            Self::Partial => t!("Not compared: one of the two explanations was stopped before its end.").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::analysis::example::document;

    #[test]
    fn scores_that_differ_by_rounding_are_the_same() {
        let shared = document();
        let mut own = document();
        assert_eq!(Reproduction::of(&shared, &own), Reproduction::Same(0.0));
        let score = own.table.row(0)[0].unwrap();
        own.table.row_mut(0)[0] = Some(score + 0.001);
        assert!(Reproduction::of(&shared, &own).is_same());
        own.table.row_mut(0)[0] = Some(score + 0.5);
        assert!(matches!(Reproduction::of(&shared, &own), Reproduction::OtherScores(nats) if (nats - 0.5).abs() < 1e-9));
    }

    #[test]
    fn incomparable_documents_are_reported() {
        let shared = document();
        let mut own = document();
        own.table.row_mut(0)[0] = None;
        assert_eq!(Reproduction::of(&shared, &own), Reproduction::Partial);
        Arc::make_mut(&mut own.generation).text = own.generation.text.replacen('.', "!", 1);
        assert_eq!(Reproduction::of(&shared, &own), Reproduction::OtherAnswer);
        own.manifest.model.sha256 = "0".repeat(64);
        assert!(matches!(Reproduction::of(&shared, &own), Reproduction::OtherModel { .. }));
    }
}
