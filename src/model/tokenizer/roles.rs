//! Which tokens begin and end a text.

use std::collections::BTreeSet;

use super::vocabulary::Vocabulary;
use super::{TokenId, TokenizerError};
use crate::model::gguf::Metadata;

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

/// Names at which generation stops, whatever the metadata say: llama.cpp's `special_eog_ids`, without the names of tokenizers that are
/// not supported here (o200k, Gemma, Solar).
const END_NAMES: &[&str] = &[
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<eos>",
    "<end_of_utterance>",
    // Fill in the middle: padding, next repository, next file.
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<PAD>",
    "[PAD]",
    "<|fim_repo|>",
    "<|repo_name|>",
    "<fim-repo>",
    "<REPO>",
    "<reponame>",
    "<|file_sep|>",
];

/// Names that, like [`END_NAMES`], make a token a control token even if its type says otherwise; llama.cpp does so too.
const CONTROL_NAMES: &[&str] = &[
    "<|fim_prefix|>",
    "<fim-prefix>",
    "<fim_prefix>",
    "<|code_prefix|>",
    "<|prefix|>",
    "<|fim_suffix|>",
    "<fim-suffix>",
    "<fim_suffix>",
    "<|code_suffix|>",
    "<|suffix|>",
    "<|fim_middle|>",
    "<fim-middle>",
    "<fim_middle>",
    "<|code_middle|>",
    "<|middle|>",
    "<PRE>",
    "<SUF>",
    "<MID>",
];

pub struct Roles {
    pub bos: Option<TokenId>,
    pub eos: TokenId,
    pub adds_bos: bool,
    pub adds_eos: bool,
    /// Generation stops at these.
    pub ends: BTreeSet<TokenId>,
}

/// What holds where the metadata do not say.
#[derive(Default)]
pub struct Defaults {
    pub bos: Option<TokenId>,
    pub eos: Option<TokenId>,
    pub adds_bos: bool,
}

impl Roles {
    pub fn read(metadata: &Metadata, vocabulary: &Vocabulary<'_>, defaults: Defaults) -> Result<Self, TokenizerError> {
        let id = |key| read_id(metadata, key, vocabulary.len());
        let exists = |&id: &TokenId| (id as usize) < vocabulary.len();
        let keyed = END_KEYS.iter().map(|key| id(key)).collect::<Result<Vec<_>, _>>()?;
        let named = vocabulary.iter().filter(|token| END_NAMES.contains(&token.name)).map(|token| token.id);
        let mut ends: BTreeSet<TokenId> = keyed.into_iter().flatten().chain(named).collect();

        let bos = id(BOS)?.or(defaults.bos.filter(exists));
        let eos = id(EOS)?.or(defaults.eos.filter(exists)).or(ends.first().copied()).ok_or(TokenizerError::NoEnd)?;
        ends.insert(eos);
        let adds_bos = metadata.bool("tokenizer.ggml.add_bos_token").unwrap_or(defaults.adds_bos);
        let adds_eos = metadata.bool("tokenizer.ggml.add_eos_token").unwrap_or(false);
        if adds_bos && bos.is_none() {
            return Err(TokenizerError::NoBeginning);
        }
        Ok(Self { bos, eos, adds_bos, adds_eos, ends })
    }
}

pub fn is_named_like_control(name: &str) -> bool {
    END_NAMES.contains(&name) || CONTROL_NAMES.contains(&name)
}

fn read_id(metadata: &Metadata, key: &'static str, tokens: usize) -> Result<Option<TokenId>, TokenizerError> {
    match metadata.u64(key) {
        None => Ok(None),
        Some(id) if id < tokens as u64 => Ok(Some(id as TokenId)),
        Some(id) => Err(TokenizerError::Id { key, id, tokens }),
    }
}
