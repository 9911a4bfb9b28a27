//! SentencePiece-style BPE (`tokenizer.ggml.model` = `llama`): the whole text is one word. Neighbors that together are a token merge, the
//! token with the highest score first. Characters without a token become bytes.

use tokenizers::Model;
use tokenizers::models::bpe::{BPE, Vocab};

use super::error::TokenizerError;
use super::roles::Defaults;
use super::token::TokenId;
use super::vocabulary::{TokenKind, Vocabulary, VocabularyEntry};
use crate::gguf::Metadata;

const SCORES: &str = "tokenizer.ggml.scores";
/// Limits for merges, whose work and memory grow with the square of a name's length. For all names together, each is limited to
/// `MAX_PER_BYTE` bytes per byte of the vocabulary in the file, plus `FREE_BYTES`. Llama 2's vocabulary needs half of it.
const MAX_PER_BYTE: u64 = 32;
const FREE_BYTES: u64 = 4 << 20;
/// Memory for a merge in addition to its name: two texts, and entries in two tables.
const MERGE_BYTES: usize = 128;
/// Size of a token in the file in addition to its name.
const LENGTH_BYTES: usize = 8;
/// Replacement for a space.
const BLANK: char = '▁';

/// Defaults of llama.cpp for `LLAMA_VOCAB_TYPE_SPM`.
pub const DEFAULTS: Defaults = Defaults { bos: Some(1), eos: Some(2), adds_bos: true };

pub struct SentencePiece {
    model: BPE,
    /// Whether to put a space before a text, and before text that follows a special token.
    pub adds_space: bool,
}

impl SentencePiece {
    pub fn new(metadata: &Metadata, vocabulary: &Vocabulary<'_>) -> Result<Self, TokenizerError> {
        let scores = metadata.numbers(SCORES)?.ok_or(TokenizerError::Missing(SCORES))?;
        if scores.len() != vocabulary.len() {
            return Err(TokenizerError::Length { key: SCORES, found: scores.len(), tokens: vocabulary.len() });
        }
        let ids = vocabulary.of_text();
        check_bytes(&ids)?;
        let merges = merges(vocabulary, &ids, scores)?;
        let builder = BPE::builder().vocab_and_merges(ids, merges).byte_fallback(true).cache_capacity(0);
        let model = builder.build().map_err(|error| TokenizerError::Build(error.to_string()))?;
        Ok(Self { model, adds_space: metadata.bool("tokenizer.ggml.add_space_prefix")?.unwrap_or(true) })
    }

    /// Tokens, each with the byte at which it ends.
    pub fn tokens(&self, text: &str, after_special: bool) -> Vec<(TokenId, usize)> {
        let (escaped, origins) = escape(text, self.adds_space && after_special);
        let tokens = self.model.tokenize(&escaped).expect("every byte has a token");
        tokens.into_iter().map(|token| (token.id, origins[token.offsets.1])).collect()
    }
}

/// Bytes of a token.
pub fn bytes_of(token: VocabularyEntry<'_>) -> Result<Box<[u8]>, TokenizerError> {
    if token.kind == TokenKind::Byte {
        let byte = (0..=u8::MAX).find(|&byte| byte_name(byte) == token.name);
        return Ok([byte.ok_or(TokenizerError::NotAByte(token.id))?].into());
    }
    Ok(token.name.replace(BLANK, " ").into_bytes().into())
}

fn byte_name(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

fn check_bytes(ids: &Vocab) -> Result<(), TokenizerError> {
    let missing = (0..=u8::MAX).find(|&byte| !ids.contains_key(&byte_name(byte)));
    missing.map_or(Ok(()), |byte| Err(TokenizerError::NoByte(byte)))
}

/// All pairs of tokens that together are a token, the highest score first. (Among tokens with equal scores, llama.cpp makes the leftmost
/// first, and we make the one with the lower id. No text among 770,000 random ones showed a difference with the vocabularies of Llama 2 and
/// stories260K.)
fn merges(vocabulary: &Vocabulary<'_>, ids: &Vocab, scores: &[f64]) -> Result<Vec<(String, String)>, TokenizerError> {
    // 64 bits, because the sums may exceed the 32 bits of WebAssembly.
    let room = FREE_BYTES + MAX_PER_BYTE * vocabulary.names.iter().map(|name| (LENGTH_BYTES + name.len()) as u64).sum::<u64>();
    let mut tokens: Vec<VocabularyEntry<'_>> =
        vocabulary.iter().filter(|token| !token.kind.is_control() && token.kind != TokenKind::Byte).collect();
    tokens.sort_by(|a, b| scores[b.id as usize].total_cmp(&scores[a.id as usize]));
    if tokens.iter().map(|token| (token.name.len() as u64).pow(2)).sum::<u64>() > room {
        return Err(TokenizerError::TooMany);
    }
    let pairs = tokens.iter().flat_map(|token| token.name.char_indices().skip(1).map(|(middle, _)| token.name.split_at(middle)));
    let known = pairs.filter(|&(left, right)| ids.contains_key(left) && ids.contains_key(right));
    let mut taken = 0_u64;
    let merge = |(left, right): (&str, &str)| {
        taken += (MERGE_BYTES + left.len() + right.len()) as u64;
        if taken > room { Err(TokenizerError::TooMany) } else { Ok((left.to_owned(), right.to_owned())) }
    };
    known.map(merge).collect()
}

/// The text with [`BLANK`] instead of spaces. For each of its bytes, and for its end, also the byte of `text` that it comes from.
fn escape(text: &str, add_space: bool) -> (String, Vec<usize>) {
    let mut escaped = String::with_capacity(text.len() + text.len() / 2);
    let mut origins = Vec::with_capacity(escaped.capacity() + 1);
    if add_space {
        escaped.push(BLANK);
        origins.extend([0; BLANK.len_utf8()]);
    }
    for (start, c) in text.char_indices() {
        let is_space = c == ' ';
        let written = if is_space { BLANK } else { c };
        escaped.push(written);
        origins.extend((0..written.len_utf8()).map(|byte| if is_space { start } else { start + byte }));
    }
    origins.push(text.len());
    (escaped, origins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gguf::Value;

    /// Builds a vocabulary of all bytes and these names.
    fn built(names: impl Iterator<Item = String>) -> Result<SentencePiece, TokenizerError> {
        let names: Vec<String> = (0..=u8::MAX).map(byte_name).chain(names).collect();
        let kinds = (0..names.len()).map(|id| if id < 256 { 6.0 } else { 1.0 }).collect();
        let metadata = Metadata::from_iter([
            (SCORES, Value::Numbers(vec![0.0; names.len()])),
            ("tokenizer.ggml.token_type", Value::Numbers(kinds)),
            ("tokenizer.ggml.tokens", Value::Strings(names)),
        ]);
        SentencePiece::new(&metadata, &Vocabulary::read(&metadata)?)
    }

    #[test]
    fn vocabulary_with_excessive_merges_is_rejected() {
        let repeated = |longest: usize| (1..=longest).map(|length| "a".repeat(length));
        assert!(built(repeated(128)).is_ok());
        // The squares of all lengths: 358 MB for half a megabyte.
        assert!(matches!(built(repeated(1024)), Err(TokenizerError::TooMany)));
        // Short enough for that limit, but every split of a name is a merge.
        let families = (0..4000).map(|i| char::from_u32(0x4e00 + i).unwrap());
        let families = families.flat_map(|c| (1..=18).map(move |length| c.to_string().repeat(length)));
        assert!(matches!(built(families), Err(TokenizerError::TooMany)));
    }
}
