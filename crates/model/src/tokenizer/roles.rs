//! Tokens that begin and end a text.

use std::collections::BTreeSet;

use super::control_names::END_NAMES;
use super::error::TokenizerError;
use super::notice::TokenizerNotice;
use super::token::TokenId;
use super::vocabulary::Vocabulary;
use crate::gguf::{Metadata, Value};

const BOS: &str = "tokenizer.ggml.bos_token_id";
const EOS: &str = "tokenizer.ggml.eos_token_id";

/// Keys of the tokens at which generation stops.
const END_KEYS: &[&str] = &[
    EOS,
    "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id",
    "tokenizer.ggml.fim_pad_token_id",
    "tokenizer.ggml.fim_rep_token_id",
    "tokenizer.ggml.fim_sep_token_id",
];

pub struct Roles {
    pub bos: Option<TokenId>,
    pub eos: TokenId,
    pub adds_bos: bool,
    pub adds_eos: bool,
    /// Tokens at which generation stops.
    pub ends: BTreeSet<TokenId>,
}

/// Values for keys that the metadata do not have.
#[derive(Default)]
pub struct Defaults {
    pub bos: Option<TokenId>,
    pub eos: Option<TokenId>,
    pub adds_bos: bool,
}

impl Roles {
    /// Ignores ids outside the vocabulary, with a notice, because converters write -1 if there is no such token.
    pub fn read(
        metadata: &Metadata,
        vocabulary: &Vocabulary<'_>,
        defaults: Defaults,
        notices: &mut Vec<TokenizerNotice>,
    ) -> Result<Self, TokenizerError> {
        let mut id = |key| read_id(metadata, key, vocabulary.len(), notices);
        let exists = |&id: &TokenId| (id as usize) < vocabulary.len();
        let keyed = END_KEYS.iter().map(|key| id(key)).collect::<Result<Vec<_>, _>>()?;
        let eos = keyed[0];
        let named = vocabulary.iter().filter(|token| END_NAMES.contains(&token.name)).map(|token| token.id);
        let mut ends: BTreeSet<TokenId> = keyed.into_iter().flatten().chain(named).collect();

        let bos = id(BOS)?.or(defaults.bos.filter(exists));
        let eos = eos.or(defaults.eos.filter(exists)).or(ends.first().copied()).ok_or(TokenizerError::NoEnd)?;
        ends.insert(eos);
        let adds_bos = metadata.bool("tokenizer.ggml.add_bos_token")?.unwrap_or(defaults.adds_bos);
        let adds_eos = metadata.bool("tokenizer.ggml.add_eos_token")?.unwrap_or(false);
        if adds_bos && bos.is_none() && metadata.get(BOS).is_none() {
            return Err(TokenizerError::NoBeginning);
        }
        Ok(Self { bos, eos, adds_bos: adds_bos && bos.is_some(), adds_eos, ends })
    }
}

fn read_id(
    metadata: &Metadata,
    key: &'static str,
    tokens: usize,
    notices: &mut Vec<TokenizerNotice>,
) -> Result<Option<TokenId>, TokenizerError> {
    let id = match metadata.get(key) {
        Some(&Value::I64(id)) => i128::from(id),
        _ => match metadata.u64(key)? {
            Some(id) => id.into(),
            None => return Ok(None),
        },
    };
    if !(0..tokens as i128).contains(&id) {
        notices.push(TokenizerNotice::NoSuchToken { key, id, tokens });
        return Ok(None);
    }
    Ok(Some(id as TokenId))
}
