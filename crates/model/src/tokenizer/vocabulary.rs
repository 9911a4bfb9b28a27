//! The tokens of a model: their checked names and kinds.

use std::collections::HashMap;

use tokenizers::models::bpe;

use super::control_names::is_named_like_control;
use super::error::TokenizerError;
use super::token::TokenId;
use crate::gguf::Metadata;

const TOKENS: &str = "tokenizer.ggml.tokens";
const TOKEN_TYPES: &str = "tokenizer.ggml.token_type";
/// The longest name seen in a model has 256 bytes: 128 spaces at two bytes each.
const MAX_NAME: usize = 1024;
/// Maximum size of all names in bytes. The largest vocabularies have about 2 MB.
const MAX_NAMES: usize = 16 << 20;

/// All tokens by id.
pub struct Vocabulary<'a> {
    pub names: &'a [String],
    pub kinds: Vec<TokenKind>,
}

/// One token.
#[derive(Clone, Copy)]
pub struct VocabularyEntry<'a> {
    pub id: TokenId,
    pub name: &'a str,
    pub kind: TokenKind,
}

/// Kind of a token. The numbers are those of `llama_token_type` in llama.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Undefined = 0,
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6,
}

impl<'a> Vocabulary<'a> {
    pub fn read(metadata: &'a Metadata) -> Result<Self, TokenizerError> {
        let names = metadata.strings(TOKENS)?.ok_or(TokenizerError::Missing(TOKENS))?;
        // Leaves one id for bytes that the vocabulary lacks.
        if TokenId::try_from(names.len()).is_err() {
            return Err(TokenizerError::TooMany);
        }
        let mut kinds = match metadata.numbers(TOKEN_TYPES)? {
            None => vec![TokenKind::Normal; names.len()],
            Some(numbers) if numbers.len() == names.len() => numbers.iter().copied().map(TokenKind::from_number).collect(),
            Some(numbers) => return Err(TokenizerError::Length { key: TOKEN_TYPES, found: numbers.len(), tokens: names.len() }),
        };
        for (kind, name) in kinds.iter_mut().zip(names) {
            if is_named_like_control(name) {
                *kind = TokenKind::Control;
            }
        }
        let vocabulary = Self { names, kinds };
        vocabulary.check_names()?;
        Ok(vocabulary)
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = VocabularyEntry<'a>> {
        let kinds = self.kinds.iter().copied();
        (0..).zip(self.names).zip(kinds).map(|((id, name), kind)| VocabularyEntry { id, name, kind })
    }

    /// Ids by name of the tokens that text may become. Excludes control tokens.
    pub fn of_text(&self) -> bpe::Vocab {
        let text = self.iter().filter(|token| !token.kind.is_control() && !token.name.is_empty());
        text.map(|token| (token.name.to_owned(), token.id)).collect()
    }

    fn check_names(&self) -> Result<(), TokenizerError> {
        if self.names.iter().map(String::len).sum::<usize>() > MAX_NAMES {
            return Err(TokenizerError::TooMany);
        }
        let mut ids = HashMap::with_capacity(self.len());
        for token in self.iter().filter(|token| !token.name.is_empty()) {
            if token.name.len() > MAX_NAME {
                return Err(TokenizerError::TooLong(token.id));
            }
            if let Some(first) = ids.insert(token.name, token.id) {
                return Err(TokenizerError::Duplicate { first, second: token.id });
            }
        }
        Ok(())
    }
}

impl TokenKind {
    const ALL: [Self; 7] = [Self::Undefined, Self::Normal, Self::Unknown, Self::Control, Self::UserDefined, Self::Unused, Self::Byte];

    /// Numbers out of range are `Undefined`, as in llama.cpp.
    fn from_number(number: f64) -> Self {
        Self::ALL.into_iter().find(|&kind| f64::from(kind as u8) == number).unwrap_or(Self::Undefined)
    }

    /// Whether text never becomes this token: control tokens, and the token for unknown text.
    pub fn is_control(self) -> bool {
        matches!(self, Self::Control | Self::Unknown)
    }
}
