//! Punctuation that ends a sentence, beside ".", "?" and "!", and that closes one.

/// `Sentence_Terminal` of the Unicode Standard, of scripts in daily use, without ".", "?" and "!", of which Punkt judges.
pub const TERMINALS: &str = "。．｡！？؟۔।॥։።፧។៕။།";

/// Characters that follow the end of a sentence and belong to it.
pub const CLOSING: &str = "」』）】》〉〕］｝”’\"')]}»›";
