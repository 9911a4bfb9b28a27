//! Converts text to token ids and back, according to the metadata of the model's own file. The ids equal llama.cpp's, with the differences
//! listed in `pre_tokenizers`.
//!
//! ```text
//! text --special--> special tokens and runs of text --scheme--> tokens, each with the bytes of text that it covers
//! ```
//!
//! There are two schemes: byte-level BPE (`gpt2`: GPT-2, Llama 3, Qwen, SmolLM) and SentencePiece-style merging by scores (`llama`: Llama
//! 2, TinyLlama). Both merge with the BPE model of the `tokenizers` crate.
//!
//! Reference: llama.cpp, src/llama-vocab.cpp.

mod byte_level;
mod control_names;
mod error;
mod notice;
mod pre_tokenizers;
mod roles;
mod sentencepiece;
mod special;
mod token;
mod vocabulary;

use std::ops::Range;

use self::byte_level::ByteLevel;
use self::roles::Roles;
use self::sentencepiece::SentencePiece;
use self::special::{Fragment, Specials};
use self::vocabulary::{TokenKind, Vocabulary};
use super::gguf::Metadata;

pub use self::error::TokenizerError;
pub use self::notice::TokenizerNotice;
pub use self::token::{Token, TokenId};

const MODEL: &str = "tokenizer.ggml.model";

/// The tokenizer of one model.
pub struct Tokenizer {
    scheme: Scheme,
    /// Bytes of each token, by id.
    bytes: Vec<Box<[u8]>>,
    kinds: Vec<TokenKind>,
    specials: Specials,
    /// Size of the longest token in bytes.
    longest: usize,
    roles: Roles,
    notices: Vec<TokenizerNotice>,
}

/// Converts a run of text without special tokens to tokens.
enum Scheme {
    ByteLevel(ByteLevel),
    SentencePiece(SentencePiece),
}

impl Tokenizer {
    /// Reads the `tokenizer.ggml.*` keys. Takes a fraction of a second for 150,000 tokens.
    pub fn from_metadata(metadata: &Metadata) -> Result<Self, TokenizerError> {
        let vocabulary = Vocabulary::read(metadata)?;
        let scheme = Scheme::new(metadata, &vocabulary)?;
        let bytes = vocabulary.iter().map(|token| scheme.bytes(token)).collect::<Result<Vec<_>, _>>()?;
        let specials = Specials::new(&vocabulary);
        let mut notices: Vec<TokenizerNotice> = scheme.guess().into_iter().collect();
        Ok(Self {
            longest: bytes.iter().map(|bytes| bytes.len()).max().unwrap_or(0).max(specials.longest()),
            bytes,
            specials,
            roles: Roles::read(metadata, &vocabulary, scheme.defaults(), &mut notices)?,
            kinds: vocabulary.kinds,
            scheme,
            notices,
        })
    }

    /// Errors if the metadata name a scheme or rules that are not supported. Missing keys are not an error.
    pub fn check_names(metadata: &Metadata) -> Result<(), TokenizerError> {
        match metadata.str(MODEL)? {
            Some("gpt2") => byte_level::pre_tokenizer(metadata).map(|_| ()),
            Some("llama") | None => Ok(()),
            Some(other) => Err(TokenizerError::Model(other.to_owned())),
        }
    }

    /// Guesses, and entries of the file that could not be used.
    pub fn notices(&self) -> &[TokenizerNotice] {
        &self.notices
    }

    /// Tokens of plain text. Adds no beginning-of-text token, and treats the names of control tokens as plain text. (Tokens of type
    /// `USER_DEFINED`, such as Qwen's `<think>`, are recognized everywhere, as in llama.cpp.)
    ///
    /// The spans tile the text. The space that SentencePiece puts before a text covers nothing. A neighbor covers bytes that the vocabulary
    /// lacks. If a whole run between special tokens consists of such bytes, nothing covers them.
    pub fn encode(&self, text: &str) -> Vec<Token> {
        self.encode_partly_plain(text, std::slice::from_ref(&(0..text.len())))
    }

    /// Like [`Tokenizer::encode`], but recognizes control tokens that do not overlap the byte ranges `plain`, which ascend.
    pub fn encode_partly_plain(&self, text: &str, plain: &[Range<usize>]) -> Vec<Token> {
        self.encode_after(true, text, plain)
    }

    /// Like [`Tokenizer::encode`], but for text that continues after `context`. SentencePiece puts its space before a text only at the very
    /// start or after a special token.
    pub fn encode_continuation(&self, context: &[TokenId], text: &str) -> Vec<Token> {
        let after_special = context.last().is_none_or(|&id| self.is_found_whole(id));
        self.encode_after(after_special, text, std::slice::from_ref(&(0..text.len())))
    }

    fn encode_after(&self, mut after_special: bool, text: &str, plain: &[Range<usize>]) -> Vec<Token> {
        let mut tokens = Vec::new();
        for fragment in self.specials.fragments(text, plain) {
            match fragment {
                Fragment::Special(id, span) => {
                    tokens.push(Token { id, span });
                    after_special = true;
                }
                Fragment::Text(run) => {
                    tokens.extend(self.tokens_of_run(text, run, after_special));
                    after_special = false;
                }
            }
        }
        tokens
    }

    /// Ids of a whole input. Recognizes control tokens, and adds the tokens for beginning and end of text that the model requires. Equals
    /// llama.cpp's `add_special = true, parse_special = true`.
    pub fn encode_with_special(&self, text: &str) -> Vec<TokenId> {
        let bos = self.roles.bos.filter(|_| self.roles.adds_bos);
        let eos = self.roles.adds_eos.then_some(self.roles.eos);
        let tokens = self.encode_partly_plain(text, &[]).into_iter().map(|token| token.id);
        bos.into_iter().chain(tokens).chain(eos).collect()
    }

    /// Bytes of a token in a text. Empty for control tokens and for ids that do not exist. A character may take several tokens, so the
    /// bytes of a token may not be valid UTF-8.
    pub fn bytes(&self, id: TokenId) -> &[u8] {
        self.bytes.get(id as usize).map_or(&[], |bytes| bytes)
    }

    /// The text of some tokens, without control tokens. Bytes that are not UTF-8 become U+FFFD. If the model's scheme puts a space before
    /// every text, removes it at the start, as in llama.cpp's `detokenize`. Unlike `detokenize`, keeps spaces before punctuation, so that
    /// `decode` undoes `encode`.
    pub fn decode(&self, ids: &[TokenId]) -> String {
        let bytes: Vec<u8> = ids.iter().flat_map(|&id| self.bytes(id)).copied().collect();
        let starts_with_space = ids.first().is_some_and(|&id| self.bytes(id).starts_with(b" "));
        let dummy = usize::from(starts_with_space && self.scheme.adds_space());
        String::from_utf8_lossy(&bytes[dummy..]).into_owned()
    }

    /// The name of a special token in the vocabulary (`<|im_end|>`), or the text of any other token.
    pub fn name(&self, id: TokenId) -> String {
        self.specials.text(id).map_or_else(|| String::from_utf8_lossy(self.bytes(id)).into_owned(), str::to_owned)
    }

    /// Minimum number of tokens of a text of `n_bytes` bytes, if all of them were of the maximum length. (Bytes that the vocabulary lacks
    /// have no token.)
    pub fn fewest_tokens(&self, n_bytes: usize) -> usize {
        n_bytes.div_ceil(self.longest.max(1))
    }

    pub fn bos(&self) -> Option<TokenId> {
        self.roles.bos
    }

    /// Whether an input begins with [`Tokenizer::bos`].
    pub fn adds_bos(&self) -> bool {
        self.roles.adds_bos
    }

    pub fn eos(&self) -> TokenId {
        self.roles.eos
    }

    /// The tokens at which generation stops.
    pub fn ends(&self) -> Vec<TokenId> {
        self.roles.ends.iter().copied().collect()
    }

    /// Whether generation stops at this token.
    pub fn is_end_of_generation(&self, id: TokenId) -> bool {
        self.roles.ends.contains(&id)
    }

    pub fn is_control(&self, id: TokenId) -> bool {
        self.kinds.get(id as usize).is_some_and(|kind| kind.is_control())
    }

    /// Whether the token is recognized as a whole, before the rest of a text is tokenized.
    pub fn is_special(&self, id: TokenId) -> bool {
        self.specials.text(id).is_some()
    }

    /// Whether a text is split at this token before the rest is tokenized: control tokens, and those of type `USER_DEFINED`.
    fn is_found_whole(&self, id: TokenId) -> bool {
        self.kinds.get(id as usize).is_some_and(|&kind| kind.is_control() || kind == TokenKind::UserDefined)
    }

    /// All tokens that control a model and never occur in a text.
    pub fn control_tokens(&self) -> Vec<TokenId> {
        (0..self.kinds.len() as TokenId).filter(|&id| self.is_control(id)).collect()
    }

    pub fn vocab_size(&self) -> usize {
        self.kinds.len()
    }

    /// Tokens of `text[run]`, which contains no special token.
    fn tokens_of_run(&self, text: &str, run: Range<usize>, after_special: bool) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut start = run.start;
        for (id, end) in self.scheme.tokens(&text[run.clone()], after_special) {
            let end = run.start + end;
            tokens.push(Token { id, span: start..end });
            start = end;
        }
        // The last token also covers bytes without a token at the end.
        if let Some(last) = tokens.last_mut() {
            last.span.end = run.end;
        }
        tokens
    }
}

impl Scheme {
    fn new(metadata: &Metadata, vocabulary: &Vocabulary<'_>) -> Result<Self, TokenizerError> {
        match metadata.str(MODEL)?.ok_or(TokenizerError::Missing(MODEL))? {
            "gpt2" => ByteLevel::new(metadata, vocabulary).map(Self::ByteLevel),
            "llama" => SentencePiece::new(metadata, vocabulary).map(Self::SentencePiece),
            other => Err(TokenizerError::Model(other.to_owned())),
        }
    }

    /// Tokens of a run of text, each with the byte at which it ends.
    fn tokens(&self, text: &str, after_special: bool) -> Vec<(TokenId, usize)> {
        match self {
            Self::ByteLevel(scheme) => scheme.tokens(text),
            Self::SentencePiece(scheme) => scheme.tokens(text, after_special),
        }
    }

    /// Bytes of a token.
    fn bytes(&self, token: vocabulary::VocabularyEntry<'_>) -> Result<Box<[u8]>, TokenizerError> {
        match (token.kind, self) {
            (TokenKind::Control | TokenKind::Unknown | TokenKind::Unused | TokenKind::Undefined, _) => Ok(Box::default()),
            (TokenKind::UserDefined, _) => Ok(token.name.as_bytes().into()),
            (_, Self::ByteLevel(_)) => Ok(byte_level::bytes_of(token.name)),
            (_, Self::SentencePiece(_)) => sentencepiece::bytes_of(token),
        }
    }

    fn adds_space(&self) -> bool {
        matches!(self, Self::SentencePiece(scheme) if scheme.adds_space)
    }

    fn guess(&self) -> Option<TokenizerNotice> {
        matches!(self, Self::ByteLevel(scheme) if scheme.is_guess).then_some(TokenizerNotice::NoPreTokenizer)
    }

    /// Values for keys that the metadata do not have.
    fn defaults(&self) -> roles::Defaults {
        match self {
            Self::ByteLevel(scheme) => roles::Defaults { adds_bos: scheme.adds_bos, ..Default::default() },
            Self::SentencePiece(_) => sentencepiece::DEFAULTS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gguf::Value;

    #[test]
    fn continuation_after_user_defined_token_starts_with_space() {
        let bytes = (0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>"));
        let names: Vec<String> = bytes.chain(["\u{2581}", "a", "<think>", "<s>"].map(str::to_owned)).collect();
        let kinds = (0..names.len()).map(|id| [6.0, 1.0, 1.0, 4.0, 3.0][(id + 1).saturating_sub(256)]).collect();
        let metadata = Metadata::from_iter([
            (MODEL, Value::String("llama".into())),
            ("tokenizer.ggml.scores", Value::Numbers(vec![0.0; names.len()])),
            ("tokenizer.ggml.token_type", Value::Numbers(kinds)),
            ("tokenizer.ggml.tokens", Value::Strings(names)),
        ]);
        let tokenizer = Tokenizer::from_metadata(&metadata).unwrap();
        let [space, a, think, start] = [256, 257, 258, 259];
        let ids = |tokens: Vec<Token>| tokens.into_iter().map(|token| token.id).collect::<Vec<_>>();
        assert_eq!(ids(tokenizer.encode("<think>a")), [think, space, a]);
        assert_eq!(ids(tokenizer.encode_continuation(&[think], "a")), [space, a], "as in the whole text");
        assert_eq!(ids(tokenizer.encode_continuation(&[start], "a")), [space, a]);
        assert_eq!(ids(tokenizer.encode_continuation(&[a], "a")), [a]);
    }
}
