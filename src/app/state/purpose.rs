//! What a run of the engine is for.

use super::place::Place;
use crate::app::analysis::deletion_test::DeletionTestPlan;
use crate::app::analysis::variant::Variant;
use crate::explanation::Document;
use crate::request::Question;

/// What a run is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    /// A new explanation.
    Explain(Question),
    /// This explanation from elsewhere, recomputed.
    Recompute(Box<Document>),
    DeletionTest(DeletionTestPlan),
    /// The answer on screen by another method.
    Compare,
    /// The prompt on screen with changes.
    AnswerVariant(Variant),
    /// The answer to this changed prompt explained.
    ExplainVariant(usize),
    /// This source word by word.
    ExpandWords(usize),
}

impl Purpose {
    /// Whether it is about the explanation on screen and does not replace it.
    pub fn is_follow_up(&self) -> bool {
        !matches!(self, Self::Explain(_) | Self::Recompute(_))
    }

    /// Where what goes wrong is said.
    pub fn place(&self) -> Place {
        if matches!(self, Self::Explain(_)) { Place::Editor } else { Place::Explanation }
    }
}
