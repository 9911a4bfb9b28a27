//! A token: its id and its position in a text.

use std::ops::Range;

pub type TokenId = u32;

/// A token and the bytes of the text that it covers. They may begin or end inside a character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub span: Range<usize>,
}
