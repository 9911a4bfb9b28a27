//! Punctuation that ends a sentence, in addition to ".", "?" and "!", and closing punctuation.

/// `Sentence_Terminal` characters of the Unicode Standard, for scripts in daily use. Without ".", "?" and "!", because Punkt judges those.
pub const TERMINALS: &str = "。．｡！？؟۔।॥։።፧។៕။།";

/// Characters that follow the end of a sentence and belong to it.
pub const CLOSING: &str = "」』）】》〉〕］｝”’\"')]}»›";
