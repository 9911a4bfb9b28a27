//! Purposes of a run of the engine.

use super::place::Place;
use crate::app::analysis::deletion_test::DeletionTestPlan;
use crate::app::analysis::variant::Variant;
use crate::explanation::{Contrast, Document};
use crate::request::Question;

/// The purpose of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    /// Answer this question and explain the answer.
    Explain(Question),
    /// Recompute this explanation.
    Recompute(Box<Document>),
    /// Run the deletion test on the explanation on screen.
    DeletionTest(DeletionTestPlan),
    /// Explain the answer on screen by another method.
    Compare,
    /// Answer the prompt on screen with changes, or continue its answer from an alternative of a token.
    AnswerVariant(Variant),
    /// Explain the answer of this variant (0-based).
    ExplainVariant(usize),
    /// Measure this source word by word.
    ExpandWords(usize),
    /// Compare a part of the answer on screen with an alternative. Then measure these contrasts of a recomputed explanation again.
    Contrast(Vec<Contrast>),
    /// Measure this device.
    MeasureDevice,
}

impl Purpose {
    /// Whether the run makes a new explanation.
    pub fn is_explanation(&self) -> bool {
        matches!(self, Self::Explain(_) | Self::Recompute(_))
    }

    /// Whether the run is about the explanation on screen and does not replace it.
    pub fn is_follow_up(&self) -> bool {
        !self.is_explanation() && *self != Self::MeasureDevice
    }

    /// Where problems of the run are shown.
    pub fn place(&self) -> Place {
        if matches!(self, Self::Explain(_) | Self::MeasureDevice) { Place::Editor } else { Place::Explanation }
    }
}
