//! A text, and the parts that it is cut into.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A text and its sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passage {
    pub text: String,
    /// Half-open spans in Unicode code points that tile the text: every character is in exactly one.
    pub sentences: Vec<[usize; 2]>,
    /// How many tokens each sentence has.
    pub tokens: Vec<usize>,
}

/// What is one source and one node of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    #[default]
    Sentence,
    /// For short texts. Whatever is said of sentences then holds for words.
    Word,
}

impl Unit {
    pub fn is_sentence(&self) -> bool {
        *self == Self::Sentence
    }

    /// "sentence" or "word".
    pub fn noun(self) -> &'static str {
        match self {
            Self::Sentence => "sentence",
            Self::Word => "word",
        }
    }
}

impl Passage {
    /// A passage from byte spans that tile `text`.
    pub fn new(text: &str, sentences: &[Range<usize>], tokens: Vec<usize>) -> Self {
        let mut start = 0;
        let spans = sentences.iter().map(|bytes| {
            let end = start + text[bytes.clone()].chars().count();
            [std::mem::replace(&mut start, end), end]
        });
        Self { sentences: spans.collect(), text: text.to_owned(), tokens }
    }

    /// The text of sentence `i`, with the white space that follows it.
    pub fn sentence(&self, i: usize) -> &str {
        let [start, end] = self.sentences[i];
        let byte = |code_point: usize| self.text.char_indices().nth(code_point).map_or(self.text.len(), |(byte, _)| byte);
        &self.text[byte(start)..byte(end)]
    }

    /// The texts of all sentences, in order.
    pub fn sentence_texts(&self) -> Vec<&str> {
        let mut rest = self.text.as_str();
        let mut texts = Vec::with_capacity(self.sentences.len());
        for [start, end] in &self.sentences {
            let bytes = rest.char_indices().nth(end - start).map_or(rest.len(), |(byte, _)| byte);
            let (sentence, after) = rest.split_at(bytes);
            texts.push(sentence);
            rest = after;
        }
        texts
    }

    /// Whether the sentences tile the text, and each has its number of tokens.
    pub fn is_tiled(&self) -> bool {
        let mut covered = 0;
        let in_order = self.sentences.iter().all(|&[start, end]| std::mem::replace(&mut covered, end) == start && end > start);
        in_order && covered == self.text.chars().count() && !self.sentences.is_empty() && self.tokens.len() == self.sentences.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_found_by_code_points() {
        let passage = Passage::new("Zoë has 2 figs. She eats 1.", &[0..17, 17..28], vec![6, 5]);
        assert_eq!(passage.sentences, [[0, 16], [16, 27]]);
        assert_eq!(passage.sentence(1), "She eats 1.");
        assert_eq!(passage.sentence_texts(), ["Zoë has 2 figs. ", "She eats 1."]);
    }
}
