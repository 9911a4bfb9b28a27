//! Punctuation that ends a sentence, beside ".", "?" and "!", and that closes one.

/// `Sentence_Terminal` of the Unicode Standard, of scripts in daily use, without ".", "?" and "!", of which Punkt judges.
pub const TERMINALS: &str = "。．｡！？؟۔।॥։።፧។៕။།";

/// What follows the end of a sentence and belongs to it.
pub const CLOSING: &str = "」』）】》〉〕］｝”’\"')]}»›";
