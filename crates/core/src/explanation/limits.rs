//! Size limits for documents. They are far above anything measured, small enough to draw, and keep derived numbers finite.

use glasscage_message::ToMessage;

use super::{Contrast, Group, JointEffect, Manifest, Method, Passage, Token};
use crate::table::Table;

/// A part of a document that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, ToMessage)]
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
    #[error("it has the probabilities of more than {MAX_TOKEN_LIST} tokens")]
    TokenList,
    #[error("it has more than {MAX_CONTRASTS} comparisons of two texts")]
    Contrasts,
    #[error("it has more than {MAX_GROUPS} passages")]
    Groups,
    #[error("it has a passage with a name of more than {MAX_GROUP_NAME} bytes")]
    GroupName,
    #[error("its answer has more than {MAX_BRANCHES} branches")]
    Branches,
}

/// Maximum bytes of a passage, or of words quoted from it. A text of 100,000 tokens has half of that.
const MAX_TEXT: usize = 1 << 20;
/// Maximum tokens of a sentence. The longest model contexts have 10 million tokens.
const MAX_TOKENS: usize = 1 << 24;
/// Maximum magnitude of a score. The largest measured scores were below 1,000 nats, but other programs may use other units. The square of
/// this limit is still a finite number.
const MAX_SCORE: f64 = 1e12;
const MAX_JOINT: usize = 10_000;
/// Maximum bytes of a name of a model, a program or a method, and of a token.
const MAX_NAME: usize = 1 << 12;
/// Maximum length of the name of a passage in bytes: 80 characters.
const MAX_GROUP_NAME: usize = 320;
/// Maximum number of tokens with probabilities. The page allows answers of a few thousand tokens.
const MAX_TOKEN_LIST: usize = 1 << 17;
const MAX_CONTRASTS: usize = 100;
const MAX_BRANCHES: usize = 100;
/// Maximum number of groups. Every place in an answer that looks like a citation is compared with all of them.
pub const MAX_GROUPS: usize = 100;

/// Checks that a passage can be shown.
pub fn check_passage(passage: &Passage) -> Result<(), TooLarge> {
    within(passage.text.len() <= MAX_TEXT, TooLarge::Text)?;
    within(passage.tokens.iter().all(|&tokens| tokens <= MAX_TOKENS), TooLarge::Tokens)
}

/// Checks that numbers derived from a table stay finite.
pub fn check_table(table: &Table) -> Result<(), TooLarge> {
    within(table.rows().flatten().flatten().all(|&score| is_moderate(score)), TooLarge::Score)
}

/// Checks that joint effects can be shown.
pub fn check_joint(joint: &[JointEffect]) -> Result<(), TooLarge> {
    within(joint.len() <= MAX_JOINT, TooLarge::Joint)?;
    within(joint.iter().all(|effect| is_moderate(effect.amount)), TooLarge::Score)?;
    let mut words = joint.iter().flat_map(|effect| [&effect.either_is_enough, &effect.only_together]).flatten();
    within(words.all(|words| words.len() <= MAX_TEXT), TooLarge::Text)
}

/// Checks that numbers derived from the support stay finite.
pub fn check_support(support: &[f64]) -> Result<(), TooLarge> {
    within(support.iter().all(|&support| is_moderate(support)), TooLarge::Score)
}

/// Checks that tokens can be shown.
pub fn check_tokens(tokens: &[Token]) -> Result<(), TooLarge> {
    within(tokens.len() <= MAX_TOKEN_LIST, TooLarge::TokenList)?;
    let alternatives = || tokens.iter().flat_map(|token| &token.alternatives);
    let log_probabilities = tokens.iter().map(|token| token.log_probability);
    let mut numbers = log_probabilities.chain(alternatives().map(|alternative| alternative.log_probability));
    within(numbers.all(is_moderate), TooLarge::Score)?;
    within(alternatives().all(|alternative| alternative.text.len() <= MAX_NAME), TooLarge::Name)
}

/// Checks that contrasts can be shown, and that numbers derived from them stay finite.
pub fn check_contrasts(contrasts: &[Contrast]) -> Result<(), TooLarge> {
    within(contrasts.len() <= MAX_CONTRASTS, TooLarge::Contrasts)?;
    within(contrasts.iter().all(|contrast| contrast.alternative.len() <= MAX_TEXT), TooLarge::Text)?;
    let mut numbers = contrasts.iter().flat_map(|contrast| contrast.log_probabilities.iter().chain(&contrast.effects));
    within(numbers.all(|&number| is_moderate(number)), TooLarge::Score)
}

/// Checks that groups can be shown, and that numbers derived from them stay finite.
pub fn check_groups(groups: &[Group]) -> Result<(), TooLarge> {
    within(groups.len() <= MAX_GROUPS, TooLarge::Groups)?;
    within(groups.iter().all(|group| group.name.len() <= MAX_GROUP_NAME), TooLarge::GroupName)?;
    within(groups.iter().flat_map(|group| &group.effects).all(|&effect| is_moderate(effect)), TooLarge::Score)
}

/// Checks the lengths of all names in method and manifest, and the number of branches.
pub fn check_names(method: &Method, manifest: &Manifest) -> Result<(), TooLarge> {
    let Manifest { model, template, backend, precision, table_precision, glasscage, producer, .. } = manifest;
    let of_model = [&model.name, &model.architecture, &model.quantization, &model.sha256];
    let of_run = [&method.id, &method.replacement, template, backend, precision, table_precision, glasscage];
    let of_producer = producer.iter().flat_map(|producer| [&producer.name, &producer.version]);
    let branches = manifest.answer.branches();
    within(branches.len() <= MAX_BRANCHES, TooLarge::Branches)?;
    let of_answer = branches.iter().map(|branch| &branch.text);
    let mut names = of_model.into_iter().chain(of_run).chain(of_producer).chain(&method.unit).chain(of_answer);
    within(names.all(|name| name.len() <= MAX_NAME), TooLarge::Name)
}

fn is_moderate(score: f64) -> bool {
    score.abs() <= MAX_SCORE
}

fn within(holds: bool, otherwise: TooLarge) -> Result<(), TooLarge> {
    if holds { Ok(()) } else { Err(otherwise) }
}
