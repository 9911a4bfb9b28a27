//! Special tokens: recognized in a text as a whole, before the rest is tokenized.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use super::token::TokenId;
use super::vocabulary::{TokenKind, Vocabulary};

struct Special {
    id: TokenId,
    text: String,
    /// Whether plain text never becomes this token.
    is_control: bool,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Fragment {
    Special(TokenId, Range<usize>),
    Text(Range<usize>),
}

/// All special tokens, with indexes to find them.
#[derive(Default)]
pub struct Specials {
    /// Sorted by length, the longest first.
    tokens: Vec<Special>,
    /// Indexes of `tokens`, sorted by text. Tokens with a common prefix are neighbors.
    by_text: Vec<usize>,
    /// For each byte, whether a special token begins with it.
    begins: Vec<bool>,
}

/// A place where a special token can be cut out, unless another one is cut out over it. Ordered by length (the longest first), then by
/// index, then by position in the text.
type Candidate = Reverse<(Reverse<usize>, usize, usize)>;

/// The tokens cut out of a text so far.
struct Search<'a> {
    specials: &'a Specials,
    text: &'a str,
    /// Ranges without control tokens, ascending.
    plain: &'a [Range<usize>],
    /// End position and token index, by start position.
    cut: BTreeMap<usize, (usize, usize)>,
    /// Number of positions at which the special tokens were searched.
    searches: usize,
}

impl Specials {
    pub fn new(vocabulary: &Vocabulary<'_>) -> Self {
        let special = vocabulary.iter().filter(|token| token.kind.is_control() || token.kind == TokenKind::UserDefined);
        Self::of(special.map(|token| Special { id: token.id, text: token.name.to_owned(), is_control: token.kind.is_control() }).collect())
    }

    fn of(mut tokens: Vec<Special>) -> Self {
        tokens.retain(|special| !special.text.is_empty());
        tokens.sort_by_key(|special| Reverse(special.text.len()));
        let mut by_text: Vec<usize> = (0..tokens.len()).collect();
        by_text.sort_by(|&a, &b| tokens[a].text.cmp(&tokens[b].text));
        let mut begins = vec![false; 256];
        tokens.iter().for_each(|special| begins[usize::from(special.text.as_bytes()[0])] = true);
        Self { tokens, by_text, begins }
    }

    /// The name of this token in the vocabulary, if it is special.
    pub fn text(&self, id: TokenId) -> Option<&str> {
        self.tokens.iter().find(|special| special.id == id).map(|special| special.text.as_str())
    }

    /// Size of the longest special token in bytes.
    pub fn longest(&self) -> usize {
        self.tokens.first().map_or(0, |special| special.text.len())
    }

    /// Splits the text into special tokens and the runs between them. Cuts out the longest special token first, anywhere in the text
    /// (llama.cpp's `tokenizer_st_partition`). Control tokens do not overlap the ranges `plain`, which ascend.
    pub fn fragments(&self, text: &str, plain: &[Range<usize>]) -> Vec<Fragment> {
        let mut search = Search { specials: self, text, plain, cut: BTreeMap::new(), searches: 0 };
        search.run();
        search.fragments()
    }
}

impl Search<'_> {
    fn run(&mut self) {
        let mut candidates: BinaryHeap<Candidate> = BinaryHeap::new();
        for (start, _) in self.text.char_indices() {
            candidates.extend(self.longest_at(start, self.text.len()));
        }
        while let Some(Reverse((Reverse(length), number, start))) = candidates.pop() {
            let limit = self.room_at(start);
            if length <= limit {
                self.cut.insert(start, (start + length, number));
            } else if limit > 0 {
                candidates.extend(self.longest_at(start, start + limit));
            }
        }
    }

    /// Number of bytes from `start` up to the next cut. 0 inside a cut.
    fn room_at(&self, start: usize) -> usize {
        let is_inside = self.cut.range(..=start).next_back().is_some_and(|(_, &(end, _))| end > start);
        let next = self.cut.range(start..).next().map_or(self.text.len(), |(&next, _)| next);
        if is_inside { 0 } else { next - start }
    }

    /// The longest special token at `start` that is allowed there and ends by `limit`.
    fn longest_at(&mut self, start: usize, limit: usize) -> Option<Candidate> {
        let Specials { tokens, by_text, begins } = self.specials;
        let rest = &self.text.as_bytes()[start..limit];
        if !begins[usize::from(*rest.first()?)] {
            return None;
        }
        self.searches += 1;
        let mut left = &by_text[..];
        let mut longest = None;
        for (at, byte) in rest.iter().enumerate() {
            // All of `left` match the text up to here. Those that end here come first.
            let next = |number: &usize| tokens[*number].text.as_bytes().get(at).copied();
            left = &left[left.partition_point(|number| next(number) < Some(*byte))..];
            left = &left[..left.partition_point(|number| next(number) == Some(*byte))];
            let Some(&number) = left.first() else { break };
            let length = at + 1;
            if tokens[number].text.len() == length && self.may_stand(&tokens[number], start..start + length) {
                longest = Some(Reverse((Reverse(length), number, start)));
            }
        }
        longest
    }

    fn may_stand(&self, special: &Special, span: Range<usize>) -> bool {
        if !special.is_control {
            return true;
        }
        let next = self.plain.partition_point(|plain| plain.end <= span.start);
        self.plain.get(next).is_none_or(|plain| span.end <= plain.start)
    }

    fn fragments(&self) -> Vec<Fragment> {
        let mut fragments = Vec::with_capacity(2 * self.cut.len() + 1);
        let mut end = 0;
        for (&start, &(next, number)) in &self.cut {
            fragments.push(Fragment::Text(end..start));
            fragments.push(Fragment::Special(self.specials.tokens[number].id, start..next));
            end = next;
        }
        fragments.push(Fragment::Text(end..self.text.len()));
        fragments.retain(|fragment| !matches!(fragment, Fragment::Text(run) if run.is_empty()));
        fragments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glasscage_core::rng::Rng;

    fn specials(texts: &[&str]) -> Specials {
        let special = |(id, text): (usize, &&str)| Special { id: id as TokenId, text: (*text).to_owned(), is_control: id % 3 == 0 };
        Specials::of(texts.iter().enumerate().map(special).collect())
    }

    /// Cuts out one token after another, each from the text that the longer ones have left.
    fn one_by_one(specials: &Specials, text: &str, plain: &[Range<usize>]) -> Vec<Fragment> {
        let mut fragments = vec![Fragment::Text(0..text.len())];
        for special in &specials.tokens {
            let is_apart = |span: &Range<usize>, plain: &Range<usize>| span.end <= plain.start || plain.end <= span.start;
            let may_stand = |span: &Range<usize>| !special.is_control || plain.iter().all(|plain| is_apart(span, plain));
            let cut = |fragment| {
                let Fragment::Text(mut run) = fragment else { return vec![fragment] };
                let mut parts = Vec::new();
                loop {
                    let starts = (run.start..run.end)
                        .filter(|&start| text.is_char_boundary(start) && text[start..run.end].starts_with(&special.text));
                    let Some(span) = starts.map(|start| start..start + special.text.len()).find(may_stand) else { break };
                    parts.push(Fragment::Text(run.start..span.start));
                    run.start = span.end;
                    parts.push(Fragment::Special(special.id, span));
                }
                parts.push(Fragment::Text(run));
                parts
            };
            fragments = fragments.into_iter().flat_map(cut).collect();
        }
        fragments.retain(|fragment| !matches!(fragment, Fragment::Text(run) if run.is_empty()));
        fragments
    }

    #[test]
    fn the_longest_are_cut_out_first_wherever_they_stand() {
        let specials = specials(&["abc", "bcab", "a", "bb", "\u{e4}a", "aaa", "ab", "ca", "c\u{e4}"]);
        let mut rng = Rng::new(1);
        for _ in 0..3_000 {
            let mut number = |n: usize| (rng.uniform() * n as f64) as usize;
            let length = number(14);
            let text: String = (0..length).map(|_| ['a', 'a', 'b', 'c', '\u{e4}'][number(5)]).collect();
            let mut edges = [(); 4].map(|()| number(text.len() + 1));
            edges.sort_unstable();
            let plain = [edges[0]..edges[1], edges[2]..edges[3]];
            assert_eq!(specials.fragments(&text, &plain), one_by_one(&specials, &text, &plain), "{text:?} {plain:?}");
        }
    }

    #[test]
    fn special_token_search_is_linear_in_text() {
        let texts: Vec<String> = (0..20_000).map(|i| format!("<{i}>")).collect();
        let specials = specials(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let text = texts.concat();
        let mut search = Search { specials: &specials, text: &text, plain: &[], cut: BTreeMap::new(), searches: 0 };
        search.run();
        assert_eq!((search.cut.len(), search.searches), (20_000, 20_000));
        let specials = self::specials(&["aaaaaaaa", "aaaa", "aa", "a"]);
        let text = "a".repeat(10_007);
        let mut search = Search { specials: &specials, text: &text, plain: &[], cut: BTreeMap::new(), searches: 0 };
        search.run();
        assert!(search.searches < 2 * text.len(), "{}", search.searches);
    }
}
