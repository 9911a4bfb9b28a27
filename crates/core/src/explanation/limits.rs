//! How large the parts of a document may be: far beyond any that is measured, and small enough that the page can show it and no number
//! that it makes of them is infinite.

use super::{JointEffect, Manifest, Method, Passage};
use crate::table::Table;

/// A part of a document that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    #[error("it has a text of more than {MAX_TEXT} bytes")]
    Text,
    #[error("it has a sentence of more than {MAX_TOKENS} tokens")]
    Tokens,
    #[error("it has a score above {MAX_SCORE:e}")]
    Score,
    #[error("it has more than {MAX_JOINT} joint effects")]
    Joint,
    #[error("it has a name of more than {MAX_NAME} bytes")]
    Name,
}

/// Bytes of a passage, or of words that it quotes. A text of 100,000 tokens has half of it.
const MAX_TEXT: usize = 1 << 20;
/// Of a sentence. The longest contexts of models have 10 million.
const MAX_TOKENS: usize = 1 << 24;
/// The largest measured were below 1,000 nats; units of other programs are not known. The square of it is no problem.
const MAX_SCORE: f64 = 1e12;
const MAX_JOINT: usize = 10_000;
/// Bytes of whatever the details name: models, programs, methods.
const MAX_NAME: usize = 1 << 12;

/// Whether a passage can be shown.
pub fn check_passage(passage: &Passage) -> Result<(), TooLarge> {
    within(passage.text.len() <= MAX_TEXT, TooLarge::Text)?;
    within(passage.tokens.iter().all(|&tokens| tokens <= MAX_TOKENS), TooLarge::Tokens)
}

/// Whether numbers can be made of a table.
pub fn check_table(table: &Table) -> Result<(), TooLarge> {
    within(table.rows().flatten().flatten().all(|&score| is_moderate(score)), TooLarge::Score)
}

/// Whether joint effects can be shown.
pub fn check_joint(joint: &[JointEffect]) -> Result<(), TooLarge> {
    within(joint.len() <= MAX_JOINT, TooLarge::Joint)?;
    within(joint.iter().all(|effect| is_moderate(effect.amount)), TooLarge::Score)?;
    let mut words = joint.iter().flat_map(|effect| [&effect.either_is_enough, &effect.only_together]).flatten();
    within(words.all(|words| words.len() <= MAX_TEXT), TooLarge::Text)
}

/// Whether what the details say can be read.
pub fn check_names(method: &Method, manifest: &Manifest) -> Result<(), TooLarge> {
    let Manifest { model, template, backend, precision, table_precision, glasscage, producer, .. } = manifest;
    let of_model = [&model.name, &model.architecture, &model.quantization, &model.sha256];
    let of_run = [&method.id, &method.replacement, template, backend, precision, table_precision, glasscage];
    let of_producer = producer.iter().flat_map(|producer| [&producer.name, &producer.version]);
    let mut names = of_model.into_iter().chain(of_run).chain(of_producer).chain(&method.unit);
    within(names.all(|name| name.len() <= MAX_NAME), TooLarge::Name)
}

fn is_moderate(score: f64) -> bool {
    score.abs() <= MAX_SCORE
}

fn within(holds: bool, otherwise: TooLarge) -> Result<(), TooLarge> {
    if holds { Ok(()) } else { Err(otherwise) }
}
