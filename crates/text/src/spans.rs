//! Maps bytes to tokens, and tokens to sentences.

use std::ops::Range;

/// The tokens of each sentence. A token belongs to the sentence that contains its first character that is not white space, or its first
/// character if it is all white space.
///
/// `sentences` tile `text`. `tokens` are ascending byte spans in `text`. The result has one range of token indices per sentence, and these
/// ranges tile the tokens.
pub fn tokens_of_sentences(text: &str, sentences: &[Range<usize>], tokens: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut next = 0;
    let mut tokens_until = |end: usize| {
        let start = next;
        while tokens.get(next).is_some_and(|token| first_visible(text, token) < end) {
            next += 1;
        }
        start..next
    };
    let mut ranges: Vec<_> = sentences.iter().map(|sentence| tokens_until(sentence.end)).collect();
    // Empty tokens after the last character belong to the last sentence.
    if let Some(last) = ranges.last_mut() {
        last.end = tokens.len();
    }
    ranges
}

/// Byte at which `token`'s first visible character starts. The token may end inside that character. The token's own start if it has no
/// visible character, or starts inside a character.
pub fn first_visible(text: &str, token: &Range<usize>) -> usize {
    let rest = text.get(token.start..).unwrap_or_default();
    token.start + first_visible_of(rest.char_indices(), token.len()).unwrap_or(0)
}

/// Start of the first visible character, if it is before byte `end`. Reads no characters after `end`.
fn first_visible_of(chars: impl Iterator<Item = (usize, char)>, end: usize) -> Option<usize> {
    let mut before_end = chars.take_while(|(start, _)| *start < end);
    before_end.find(|(_, c)| !c.is_whitespace()).map(|(start, _)| start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_belongs_to_sentence_of_first_visible_character() {
        let text = "One. Two.\nThree.";
        let tokens = [0..3, 3..4, 4..8, 8..10, 10..16];
        assert_eq!(tokens_of_sentences(text, &[0..5, 5..10, 10..16], &tokens), [0..2, 2..4, 4..5]);
    }

    #[test]
    fn white_space_alone_stays_with_the_sentence_that_holds_it() {
        let tokens = [0..2, 2..4, 4..6];
        assert_eq!(tokens_of_sentences("A.  B.", &[0..4, 4..6], &tokens), [0..2, 2..3]);
    }

    #[test]
    fn token_ending_inside_character_belongs_to_its_sentence() {
        // Llama 3 splits " 🦊" after the space and two bytes.
        assert_eq!(tokens_of_sentences("Good. 🦊", &[0..6, 6..10], &[0..5, 5..8, 8..9, 9..10]), [0..1, 1..4]);
    }

    #[test]
    fn nothing_is_read_after_the_token() {
        let mut read = 0;
        let text = format!("a{}b", "\n".repeat(50_000));
        assert_eq!(first_visible_of(text[1..].char_indices().inspect(|_| read += 1), 3), None);
        assert_eq!(read, 4);
        assert_eq!((first_visible(&text, &(1..3)), first_visible(&text, &(0..2)), first_visible(&text, &(1..text.len()))), (1, 0, 50_001));
    }

    #[test]
    fn tokens_inside_a_character_stay_together() {
        // Ë is two bytes, each a token.
        assert_eq!(tokens_of_sentences("Ë. A", &[0..4, 4..5], &[0..1, 1..2, 2..3, 3..5]), [0..3, 3..4]);
    }
}
