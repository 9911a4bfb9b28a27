//! A text, split into units.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A text and its sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passage {
    pub text: String,
    /// Half-open spans in Unicode code points. They tile the text: every character is in exactly one.
    pub sentences: Vec<[usize; 2]>,
    /// Number of tokens of each sentence.
    pub tokens: Vec<usize>,
    /// Sections of a generation that starts with a thinking section, in order. They cover its sentences. Otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
}

/// A section of a generation: the thinking section or the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub kind: SectionKind,
    /// Number of units in the section. Each unit is a row of the table.
    pub sentences: usize,
    /// Number of sentences per unit, except the last unit. Above 1 if a long thinking section is split into runs of sentences.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub run: usize,
}

/// The default of [`Section::run`], which documents leave out.
fn one() -> usize {
    1
}

fn is_one(run: &usize) -> bool {
    *run == 1
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SectionKind {
    /// Text that the model writes before its answer, between delimiters such as `<think>`.
    Thought,
    Answer,
}

/// The unit of text that is one source and one node of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    #[default]
    Sentence,
    /// For short texts. Everything documented for sentences then applies to words, and so it does for the units below.
    Word,
    /// A line that is not blank.
    Line,
    /// Lines without a blank line between them.
    Paragraph,
    /// A Markdown heading with all text up to the next heading.
    Section,
    /// A part that the visitor put between `[[` and `]]`. Text outside such marks is split into sentences. The model does not read the
    /// marks, and the document does not contain them.
    Bracket,
}

impl Unit {
    /// All units, in the order in which the settings offer them.
    pub const ALL: [Self; 6] = [Self::Sentence, Self::Word, Self::Line, Self::Paragraph, Self::Section, Self::Bracket];

    /// The unit with this name. `None` if this version does not know it.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.noun() == name)
    }

    pub fn is_sentence(&self) -> bool {
        *self == Self::Sentence
    }

    /// Whether units follow each other within lines, so that they are drawn as running text.
    pub fn is_word(self) -> bool {
        self == Self::Word
    }

    /// Whether documents of versions 1 and 2 can have this unit.
    pub fn is_in_version_2(self) -> bool {
        matches!(self, Self::Sentence | Self::Word)
    }

    /// The unit of a generation if this is the unit of its prompt. Words and lines split both texts. The other units split the prompt only:
    /// a reader wants to know which paragraph a sentence of the answer depends on.
    pub fn of_answer(self) -> Self {
        match self {
            Self::Word | Self::Line => self,
            Self::Sentence | Self::Paragraph | Self::Section | Self::Bracket => Self::Sentence,
        }
    }

    /// The noun for texts that have no words of their own for each unit: "sentence", "word", or "part".
    pub fn general_noun(self) -> &'static str {
        if self.is_in_version_2() { self.noun() } else { "part" }
    }

    /// The name in documents and on the command line: "sentence".
    pub fn noun(self) -> &'static str {
        match self {
            Self::Sentence => "sentence",
            Self::Word => "word",
            Self::Line => "line",
            Self::Paragraph => "paragraph",
            Self::Section => "section",
            Self::Bracket => "bracket",
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
        Self { sentences: spans.collect(), text: text.to_owned(), tokens, sections: Vec::new() }
    }

    /// The text of sentence `i`, with the white space that follows it.
    pub fn sentence(&self, i: usize) -> &str {
        let [start, end] = self.sentences[i];
        let byte = |code_point: usize| self.text.char_indices().nth(code_point).map_or(self.text.len(), |(byte, _)| byte);
        &self.text[byte(start)..byte(end)]
    }

    /// The text with `[[` and `]]` around each sentence, in which [`Unit::Bracket`] finds the same units again.
    pub fn bracketed(&self) -> String {
        self.bracketed_texts().concat()
    }

    /// The texts of all sentences with their marks, in order: see [`Self::bracketed`].
    pub fn bracketed_texts(&self) -> Vec<String> {
        let marked = |unit: &str| {
            let (inside, after) = unit.split_at(unit.trim_end().len());
            if inside.is_empty() { unit.to_owned() } else { format!("[[{inside}]]{after}") }
        };
        self.sentence_texts().into_iter().map(marked).collect()
    }

    /// The text of a half-open span in Unicode code points. `None` if the span is empty or not in the text.
    pub fn span_text(&self, [start, end]: [usize; 2]) -> Option<&str> {
        // Counts from 0 to the number of code points, which is the end of the text.
        let mut offsets = self.text.char_indices().map(|(byte, _)| byte).chain([self.text.len()]);
        let from = offsets.nth(start)?;
        let to = offsets.nth(end.checked_sub(start)?.checked_sub(1)?)?;
        Some(&self.text[from..to])
    }

    /// The sentence (0-based) of the first visible character of a half-open span in Unicode code points. `None` if the span is blank or not
    /// in the text.
    pub fn sentence_at(&self, span: [usize; 2]) -> Option<usize> {
        let visible = self.span_text(span)?.chars().position(|c| !c.is_whitespace())?;
        self.sentences.iter().position(|&[start, end]| (start..end).contains(&(span[0] + visible)))
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

    /// The sentences (0-based) that state something, according to their punctuation: all except questions. All sentences if every one is a
    /// question.
    pub fn statements(&self) -> Vec<usize> {
        let texts = self.sentence_texts();
        let statements: Vec<usize> = (0..texts.len()).filter(|&i| !is_question(texts[i])).collect();
        if statements.is_empty() { (0..texts.len()).collect() } else { statements }
    }

    /// The sections with their sentences. If there are no sections, all sentences form an answer.
    pub fn sections(&self) -> Vec<(SectionKind, Range<usize>)> {
        if self.sections.is_empty() {
            return vec![(SectionKind::Answer, 0..self.sentences.len())];
        }
        let mut end = 0;
        let section = |&Section { kind, sentences, .. }: &Section| {
            let start = end;
            end += sentences;
            (kind, start..end)
        };
        self.sections.iter().map(section).collect()
    }

    /// Whether each section has a sentence and a positive run length, and all sections together cover the sentences. True if there are no
    /// sections.
    pub fn is_covered(&self) -> bool {
        let all = self.sections.iter().map(|section| section.sentences).try_fold(0_usize, usize::checked_add);
        let are_counted = self.sections.iter().all(|section| section.sentences > 0 && section.run > 0);
        self.sections.is_empty() || are_counted && all == Some(self.sentences.len())
    }

    /// Whether the sentences tile the text, and each has a token count.
    pub fn is_tiled(&self) -> bool {
        let mut covered = 0;
        let in_order = self.sentences.iter().all(|&[start, end]| std::mem::replace(&mut covered, end) == start && end > start);
        in_order && covered == self.text.chars().count() && !self.sentences.is_empty() && self.tokens.len() == self.sentences.len()
    }
}

/// Whether a sentence ends with a question mark of any script, apart from closing quotation marks and brackets.
fn is_question(sentence: &str) -> bool {
    let is_closing = |c: char| c.is_whitespace() || "\"')]*_\u{bb}\u{2019}\u{201c}\u{201d}\u{300d}\u{300f}\u{ff09}".contains(c);
    sentence.trim_end_matches(is_closing).ends_with(['?', '\u{37e}', '\u{61f}', '\u{ff1f}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_all_sentences_except_questions() {
        let statements = |sentences: &[&str]| {
            let mut start = 0;
            let span = |sentence: &&str| {
                let end = start + sentence.len();
                std::mem::replace(&mut start, end)..end
            };
            let spans: Vec<Range<usize>> = sentences.iter().map(span).collect();
            Passage::new(&sentences.concat(), &spans, vec![1; sentences.len()]).statements()
        };
        assert_eq!(statements(&["It rained. ", "Why? ", "The sun came out."]), [0, 2]);
        assert_eq!(statements(&["He asked: \u{201c}Why?\u{201d} ", "\u{4e3a}\u{4ec0}\u{4e48}\u{ff1f}\n", "No. ", "(Why?)"]), [2]);
        assert_eq!(statements(&["Who wrote Faust? ", "When?"]), [0, 1], "there is nothing else");
    }

    #[test]
    fn sentences_are_found_by_code_points() {
        let passage = Passage::new("Zoë has 2 figs. She eats 1.", &[0..17, 17..28], vec![6, 5]);
        assert_eq!(passage.sentences, [[0, 16], [16, 27]]);
        assert_eq!(passage.sentence(1), "She eats 1.");
        assert_eq!(passage.sentence_texts(), ["Zoë has 2 figs. ", "She eats 1."]);
        let passage = Passage::new("É. Ü. O.", &[0..4, 4..8, 8..10], vec![2; 3]);
        assert_eq!(passage.sentence_texts(), [0, 1, 2].map(|i| passage.sentence(i)));
    }

    #[test]
    fn spans_count_code_points() {
        let passage = Passage::new("É. Ü. O.", &[0..4, 4..8, 8..10], vec![2; 3]);
        assert_eq!(
            [[0, 1], [3, 5], [2, 4], [0, 8]].map(|span| passage.span_text(span)),
            [Some("É"), Some("Ü."), Some(" Ü"), Some("É. Ü. O.")]
        );
        assert_eq!([[0, 0], [2, 1], [7, 9], [9, 9], [usize::MAX, 0]].map(|span| passage.span_text(span)), [None; 5]);
        assert_eq!([[0, 1], [2, 4], [6, 8], [2, 3], [7, 9]].map(|span| passage.sentence_at(span)), [Some(0), Some(1), Some(2), None, None]);
    }

    #[test]
    fn sentences_tile_the_text_and_each_has_its_tokens() {
        let passage = |sentences: &[[usize; 2]], tokens: &[usize]| Passage {
            text: "Zoë ran".into(),
            sentences: sentences.to_vec(),
            tokens: tokens.to_vec(),
            sections: Vec::new(),
        };
        assert!(passage(&[[0, 4], [4, 7]], &[1, 0]).is_tiled());
        let gaps_and_overlaps: [&[[usize; 2]]; 6] =
            [&[[0, 3], [4, 7]], &[[0, 4], [3, 7]], &[[1, 4], [4, 7]], &[[0, 4], [4, 6]], &[[0, 4], [4, 8]], &[[0, 7], [7, 7]]];
        for sentences in gaps_and_overlaps {
            assert!(!passage(sentences, &[1, 1]).is_tiled(), "{sentences:?}");
        }
        assert!(!passage(&[[0, 4], [4, 7]], &[1]).is_tiled());
        assert!(!Passage::new("", &[], Vec::new()).is_tiled(), "there is no sentence");
    }

    #[test]
    fn units_have_names_of_their_own() {
        for unit in Unit::ALL {
            assert_eq!((serde_json::to_string(&unit).unwrap(), Unit::named(unit.noun())), (format!("\"{}\"", unit.noun()), Some(unit)));
            assert_eq!(unit.of_answer().of_answer(), unit.of_answer());
        }
        assert_eq!(Unit::named("turn"), None);
    }

    #[test]
    fn brackets_enclose_units_except_white_space_at_end() {
        let passage = Passage::new("\n Zoë ran.  She won.\n", &[0..13, 13..22], vec![3; 2]);
        assert_eq!(passage.bracketed(), "[[\n Zoë ran.]]  [[She won.]]\n");
        assert_eq!(Passage::new("A. \n", &[0..3, 3..4], vec![2, 0]).bracketed(), "[[A.]] \n");
    }

    #[test]
    fn sections_cover_the_sentences() {
        let mut passage = Passage::new("A. B. C.", &[0..3, 3..6, 6..8], vec![2; 3]);
        assert_eq!(passage.sections(), [(SectionKind::Answer, 0..3)]);
        let sections = |counts: [usize; 2]| {
            let kinds = [SectionKind::Thought, SectionKind::Answer];
            kinds.into_iter().zip(counts).map(|(kind, sentences)| Section { kind, sentences, run: 1 }).collect::<Vec<_>>()
        };
        passage.sections = sections([2, 1]);
        assert_eq!(passage.sections(), [(SectionKind::Thought, 0..2), (SectionKind::Answer, 2..3)]);
        assert!(passage.is_covered());
        for counts in [[2, 2], [3, 0], [1, 1], [usize::MAX, 4]] {
            passage.sections = sections(counts);
            assert!(!passage.is_covered(), "{counts:?}");
        }
        passage.sections = sections([2, 1]);
        passage.sections[0].run = 0;
        assert!(!passage.is_covered(), "a unit of no sentences");
    }

    #[test]
    fn section_json_contains_run_only_above_one() {
        for (run, json) in [(1, r#"{"kind":"thought","sentences":2}"#), (4, r#"{"kind":"thought","sentences":2,"run":4}"#)] {
            let section = Section { kind: SectionKind::Thought, sentences: 2, run };
            assert_eq!(serde_json::to_string(&section).unwrap(), json);
            assert_eq!(serde_json::from_str::<Section>(json).unwrap(), section);
        }
    }
}
