//! Words: text between white space, including punctuation.

use std::ops::Range;

/// The words of `text`: byte ranges, in order, never empty.
///
/// ```
/// let text = " Ann has\n3 figs. ";
/// let found: Vec<&str> = glasscage_text::words::words(text).into_iter().map(|word| &text[word]).collect();
/// assert_eq!(found, ["Ann", "has", "3", "figs."]);
/// ```
pub fn words(text: &str) -> Vec<Range<usize>> {
    let start_of = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(|word| start_of(word)..start_of(word) + word.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::tile;

    #[test]
    fn words_tile_a_text_like_sentences_do() {
        let text = "\nZoë has\u{a0}2 figs.  ";
        let tiles: Vec<&str> = tile(text, &words(text)).into_iter().map(|tile| &text[tile]).collect();
        assert_eq!(tiles, ["\nZoë ", "has\u{a0}", "2 ", "figs.  "]);
        assert!(words(" \n").is_empty());
    }
}
