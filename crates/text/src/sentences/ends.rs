//! The end of a text.

/// Number of characters to examine at the end of a sentence. The three words that matter are shorter.
pub const TAIL: usize = 40;

/// The last characters of the text. Examining whole words could cost the length of the text each time.
pub fn tail(text: &str) -> &str {
    let start = text.char_indices().rev().nth(TAIL - 1).map_or(0, |(at, _)| at);
    &text[start..]
}

/// The text after the last white space.
pub fn last_token(tail: &str) -> &str {
    tail.rsplit(char::is_whitespace).next().unwrap_or_default()
}
