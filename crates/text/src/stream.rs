//! Decodes a text that arrives in pieces, which may be parts of characters.

/// Receives bytes and returns complete characters.
#[derive(Default)]
pub struct TextStream {
    pending: Vec<u8>,
}

impl TextStream {
    /// Adds bytes and returns the characters that are now complete.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.pending) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.pending.len(),
        };
        let piece = String::from_utf8_lossy(&self.pending[..whole]).into_owned();
        self.pending.drain(..whole);
        piece
    }
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
}
