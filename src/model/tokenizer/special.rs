//! Tokens that are recognized in a text as a whole, before anything else.

use std::cmp::Reverse;
use std::ops::Range;

use super::token::TokenId;
use super::vocabulary::{TokenKind, Vocabulary};

pub struct Special {
    pub id: TokenId,
    pub text: String,
    /// Plain text never becomes this token.
    is_control: bool,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Fragment {
    Special(TokenId, Range<usize>),
    Text(Range<usize>),
}

impl Special {
    /// Longest first, which is the order in which they are looked for.
    pub fn all(vocabulary: &Vocabulary<'_>) -> Vec<Self> {
        let special = vocabulary.iter().filter(|token| token.kind.is_control() || token.kind == TokenKind::UserDefined);
        let mut specials: Vec<Self> = special
            .filter(|token| !token.name.is_empty())
            .map(|token| Self { id: token.id, text: token.name.to_owned(), is_control: token.kind.is_control() })
            .collect();
        specials.sort_by_key(|special| Reverse(special.text.len()));
        specials
    }

    /// Where it first stands in `text[within]`, if it may stand there.
    fn find(&self, text: &str, within: Range<usize>, plain: &Range<usize>) -> Option<Range<usize>> {
        let starts = text[within.clone()].match_indices(&self.text).map(|(start, _)| within.start + start);
        let mut spans = starts.map(|start| start..start + self.text.len());
        spans.find(|span| !self.is_control || span.end <= plain.start || plain.end <= span.start)
    }

    /// Cuts every occurrence out of `text[run]`.
    fn cut(&self, text: &str, mut run: Range<usize>, plain: &Range<usize>) -> Vec<Fragment> {
        let mut fragments = Vec::new();
        while let Some(span) = self.find(text, run.clone(), plain) {
            fragments.push(Fragment::Text(run.start..span.start));
            run.start = span.end;
            fragments.push(Fragment::Special(self.id, span));
        }
        fragments.push(Fragment::Text(run));
        fragments.retain(|fragment| !matches!(fragment, Fragment::Text(run) if run.is_empty()));
        fragments
    }
}

/// The text as special tokens and the runs between them, the longest special token first wherever it stands
/// (llama.cpp's `tokenizer_st_partition`). Control tokens do not reach into `plain`.
pub fn fragments(specials: &[Special], text: &str, plain: &Range<usize>) -> Vec<Fragment> {
    let mut fragments = Vec::from_iter((!text.is_empty()).then_some(Fragment::Text(0..text.len())));
    for special in specials.iter().filter(|special| text.contains(&special.text)) {
        fragments = fragments
            .into_iter()
            .flat_map(|fragment| match fragment {
                Fragment::Text(run) => special.cut(text, run, plain),
                done => vec![done],
            })
            .collect();
    }
    fragments
}
