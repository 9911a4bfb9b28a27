//! Derives the page's statements about a document: shares, evidence, comparisons, and their texts. Pure functions.

pub mod branches;
pub mod certainty;
pub mod comparison;
pub mod continuation;
pub mod contrast;
pub mod deletion_test;
pub mod derivation;
pub mod edge_style;
pub mod embed;
#[cfg(test)]
pub mod example;
pub mod expanded_source;
pub mod joint_effects;
pub mod lesson_explanations;
pub mod lesson_sheet;
pub mod method_words;
pub mod number;
pub mod passages;
pub mod path_diagram;
pub mod reproduction;
pub mod share_texts;
pub mod shared_link;
pub mod speaker;
pub mod speed;
pub mod thought;
pub mod title;
pub mod variant;
pub mod walk;
