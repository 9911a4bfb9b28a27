//! Byte-level BPE (`tokenizer.ggml.model` = `gpt2`): regular expressions split a text into words, and the bytes of each word are merged in
//! the order of a list.

use std::collections::HashSet;

use tokenizers::Model;
use tokenizers::models::bpe::{BPE, Vocab};

use super::error::TokenizerError;
use super::pre_tokenizers::{self, PreTokenizer, Splitter};
use super::token::TokenId;
use super::vocabulary::Vocabulary;
use crate::gguf::Metadata;

const PRE: &str = "tokenizer.ggml.pre";
const MERGES: &str = "tokenizer.ggml.merges";

pub struct ByteLevel {
    splitter: Splitter,
    model: BPE,
    /// Placeholder for a byte that the vocabulary lacks (SmolLM's lacks some). Nothing merges across it, and it is left out of the result.
    missing: TokenId,
    pub adds_bos: bool,
    /// Whether the metadata do not name the rules.
    pub is_guess: bool,
}

/// The rules that the metadata name, or the default rules.
pub fn pre_tokenizer(metadata: &Metadata) -> Result<&'static PreTokenizer, TokenizerError> {
    pre_tokenizers::by_name(metadata.str(PRE)?.unwrap_or("default"))
}

impl ByteLevel {
    pub fn new(metadata: &Metadata, vocabulary: &Vocabulary<'_>) -> Result<Self, TokenizerError> {
        let pre_tokenizer = pre_tokenizer(metadata)?;
        let (model, missing) = bpe(metadata, vocabulary, pre_tokenizer.whole_words_first)?;
        Ok(Self {
            splitter: Splitter::new(pre_tokenizer),
            model,
            missing,
            adds_bos: pre_tokenizer.adds_bos,
            is_guess: metadata.get(PRE).is_none(),
        })
    }

    /// Tokens, each with the byte at which it ends.
    pub fn tokens(&self, text: &str) -> Vec<(TokenId, usize)> {
        let mut tokens = Vec::new();
        let mut end = 0;
        for word in self.splitter.words(text) {
            let spelled: String = word.bytes().map(|byte| SPELLING[usize::from(byte)]).collect();
            for token in self.model.tokenize(&spelled).expect("the model knows the token for missing bytes") {
                end += spelled[token.offsets.0..token.offsets.1].chars().count();
                if token.id != self.missing {
                    tokens.push((token.id, end));
                }
            }
        }
        tokens
    }
}

/// Bytes of a token. A character that does not encode a byte stands for itself.
pub fn bytes_of(name: &str) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(name.len());
    for c in name.chars() {
        match SPELLED.get(c as usize) {
            Some(&Some(byte)) => bytes.push(byte),
            _ => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes.into()
}

/// The merging model, and its id for missing bytes.
fn bpe(metadata: &Metadata, vocabulary: &Vocabulary<'_>, whole_words_first: bool) -> Result<(BPE, TokenId), TokenizerError> {
    let mut ids = vocabulary.of_text();
    let merges = merges(metadata, vocabulary, &ids)?;
    let missing = vocabulary.len() as TokenId;
    let mut name = String::from(" ");
    while ids.contains_key(&name) {
        name.push(' ');
    }
    ids.insert(name.clone(), missing);
    let builder = BPE::builder().vocab_and_merges(ids, merges).unk_token(name).ignore_merges(whole_words_first).cache_capacity(0);
    let model = builder.build().map_err(|error| TokenizerError::Build(error.to_string()))?;
    Ok((model, missing))
}

/// Pairs of tokens that merge into a third, in order. Leaves out merges with control tokens. (The crate's model panics if the third is
/// longer than any token.)
fn merges(metadata: &Metadata, vocabulary: &Vocabulary<'_>, ids: &Vocab) -> Result<Vec<(String, String)>, TokenizerError> {
    let control: HashSet<&str> = vocabulary.iter().filter(|token| token.kind.is_control()).map(|token| token.name).collect();
    let mut merges = Vec::new();
    for (index, merge) in metadata.strings(MERGES)?.ok_or(TokenizerError::Missing(MERGES))?.iter().enumerate() {
        let (left, right) = merge.split_once(' ').ok_or(TokenizerError::Merge(index))?;
        let names = [left, right, &[left, right].concat()];
        if names.iter().any(|name| control.contains(name)) {
            continue;
        }
        if !names.iter().all(|&name| ids.contains_key(name)) {
            return Err(TokenizerError::Merge(index));
        }
        merges.push((left.to_owned(), right.to_owned()));
    }
    Ok(merges)
}

/// GPT-2's `bytes_to_unicode`: the character that encodes each byte. Printable bytes encode themselves, the others start at U+0100.
const SPELLING: [char; 256] = {
    let mut spelling = ['\0'; 256];
    let mut next = 0x100;
    let mut byte = 0;
    while byte < 256 {
        spelling[byte] = match byte {
            0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => byte as u8 as char,
            _ => {
                next += 1;
                char::from_u32(next - 1).expect("is below the surrogates")
            }
        };
        byte += 1;
    }
    spelling
};

/// The byte that each character encodes; the last character is U+0143.
const SPELLED: [Option<u8>; 0x144] = {
    let mut spelled = [None; 0x144];
    let mut byte = 0;
    while byte < 256 {
        spelled[SPELLING[byte] as usize] = Some(byte as u8);
        byte += 1;
    }
    spelled
};
