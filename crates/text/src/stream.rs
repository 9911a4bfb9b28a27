//! Decodes a text that arrives in pieces, which may be parts of characters.

/// Receives bytes and returns complete characters.
#[derive(Default)]
pub struct TextStream {
    pending: Vec<u8>,
}

impl TextStream {
    /// Adds bytes and returns the characters that are now complete. Bytes that are not UTF-8 become U+FFFD. Keeps at most three bytes: an
    /// incomplete character at the end.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.len() - incomplete_end(&self.pending);
        let piece = String::from_utf8_lossy(&self.pending[..whole]).into_owned();
        self.pending.drain(..whole);
        piece
    }
}

/// Number of bytes at the end that are the start of a character.
fn incomplete_end(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let is_incomplete = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if is_incomplete { last.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_sent_when_its_last_byte_is_there() {
        let mut stream = TextStream::default();
        let pieces: Vec<_> = "aë€".bytes().map(|byte| stream.push(&[byte])).collect();
        assert_eq!(pieces, ["a", "", "ë", "", "", "€"]);
        assert_eq!(stream.push(&[0xff]), "\u{fffd}");
    }

    #[test]
    fn invalid_byte_does_not_end_incomplete_character() {
        let mut stream = TextStream::default();
        let pieces = [&[0xff, 0xe2, 0x82][..], &[0xac, b'a', 0xf0], &[0x9f], b"b"].map(|bytes| stream.push(bytes));
        assert_eq!(pieces, ["\u{fffd}", "\u{20ac}a", "", "\u{fffd}b"]);
    }
}
