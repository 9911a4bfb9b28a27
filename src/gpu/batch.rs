//! Texts and perturbations as rows for the kernels. Pure functions.

use std::ops::Range;

use super::wgsl::wgsl_struct;
use crate::lm::{Input, Pass, ScoreRequest};
use crate::model::tokenizer::TokenId;

wgsl_struct! {
    /// One token on its way through the layers.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Row {
        /// Its embedding is moved by `blend` of the way to that of `blend_with`.
        token: u32,
        blend_with: u32,
        blend: f32,
        /// In its text.
        position: u32,
        /// Where its key and value go.
        slot: u32,
        /// It attends to slots `0..prefix_end` of the text's keys ..
        prefix_end: u32,
        /// .. and to `suffix_start..suffix_end` of the suffixes' keys.
        suffix_start: u32,
        suffix_end: u32,
    }
}

impl Row {
    /// As the kernels read them.
    pub fn all_words(rows: &[Self]) -> Vec<u32> {
        rows.iter().flat_map(Self::words).collect()
    }

    /// How many it attends to.
    pub fn n_keys(&self) -> usize {
        (self.prefix_end + self.suffix_end - self.suffix_start) as usize
    }

    fn reading(input: Input) -> Self {
        Self { token: input.token, blend_with: input.blend_with, blend: input.blend, ..Self::default() }
    }
}

/// Rows of the text itself: what is read at positions from `first` on, each attending to all before it and to itself.
pub fn text_rows(inputs: &[Input], first: usize) -> Vec<Row> {
    let row = |(i, &input): (usize, &Input)| {
        let position = (first + i) as u32;
        Row { position, slot: position, prefix_end: position + 1, ..Row::reading(input) }
    };
    inputs.iter().enumerate().map(row).collect()
}

/// The number of the running memory, which is that of the text itself: see `memories`.
pub const RUNNING: usize = 0;

/// Rows of a batch that are of one text, one after the other, for layers with a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub rows: Range<usize>,
    /// The number of its memory: see `memories`.
    pub memory: usize,
    pub before: Before,
}

/// What a sequence comes after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    Nothing,
    /// What is in its memory.
    Itself,
    /// So many tokens of the text, more than none.
    Text(usize),
    /// What is in its memory; a convolution may still read the last of so many tokens of the text.
    ItselfAndText(usize),
}

impl Sequence {
    /// Rows after the first `tokens` of the text.
    pub fn after_text(rows: Range<usize>, memory: usize, tokens: usize) -> Self {
        Self { rows, memory, before: if tokens == 0 { Before::Nothing } else { Before::Text(tokens) } }
    }

    /// Rows of the text itself, from position `first` on.
    pub fn of_text(n: usize, first: usize) -> Self {
        Self { rows: 0..n, memory: RUNNING, before: if first == 0 { Before::Nothing } else { Before::Itself } }
    }

    /// The tokens of the text whose memory it begins with, and the number of its own.
    pub fn replayed(&self) -> Option<(usize, usize)> {
        match self.before {
            Before::Text(tokens) => Some((tokens, self.memory)),
            Before::Nothing | Before::Itself | Before::ItselfAndText(_) => None,
        }
    }

    /// The tokens of the text before it, where it may read of them.
    pub fn text_before(&self) -> Option<usize> {
        match self.before {
            Before::Text(tokens) | Before::ItselfAndText(tokens) => Some(tokens),
            Before::Nothing | Before::Itself => None,
        }
    }
}

/// Row of the token before number `i` of a gap. `position` is that of the token before the gap; keys and values of that token and of
/// the gap's begin at slot `first_slot`.
pub fn gap_row(token: TokenId, position: usize, i: usize, first_slot: usize) -> Row {
    Row {
        position: (position + i) as u32,
        slot: (first_slot + i) as u32,
        prefix_end: position as u32,
        suffix_start: first_slot as u32,
        suffix_end: (first_slot + i + 1) as u32,
        ..Row::reading(token.into())
    }
}

/// The part of a request's text that has to be computed for one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suffix {
    /// Positions that go through the layers: from the first edit to the last one that predicts a target.
    pub positions: Range<usize>,
    /// Targets whose probability can differ from the base text's.
    pub targets: Range<usize>,
}

/// The suffix of `pass`; both ranges are empty where no target comes after its first edit.
pub fn suffix(request: &ScoreRequest<'_>, pass: &Pass) -> Suffix {
    let start = pass.start();
    let targets = request.targets.start.max(start + 1)..request.targets.end;
    if targets.is_empty() {
        Suffix { positions: start..start, targets: start..start }
    } else {
        Suffix { positions: start..request.targets.end - 1, targets }
    }
}

/// Rows of a pass's suffix, with keys and values from slot `first_slot` of the suffixes on.
pub fn suffix_rows(request: &ScoreRequest<'_>, pass: &Pass, first_slot: usize) -> Vec<Row> {
    let Suffix { positions, .. } = suffix(request, pass);
    let perturbed = request.inputs(&pass.edits);
    let row = |(i, position): (usize, usize)| Row {
        position: position as u32,
        slot: (first_slot + i) as u32,
        prefix_end: positions.start as u32,
        suffix_start: first_slot as u32,
        suffix_end: (first_slot + i + 1) as u32,
        ..Row::reading(perturbed[position])
    };
    positions.clone().enumerate().map(row).collect()
}

/// How many of the suffixes with these lengths, from the first on, fit into `max_rows` together: at least one.
pub fn count_fitting(lengths: impl Iterator<Item = usize>, max_rows: usize) -> usize {
    let sums = lengths.scan(0, |sum, length| {
        *sum += length;
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= max_rows).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lm::Edit;

    fn pass(start: usize, length: usize) -> Pass {
        Pass { edits: vec![Edit::new(start, &vec![9; length])] }
    }

    #[test]
    fn a_text_attends_to_itself() {
        let rows = text_rows(&[5.into(), 6.into()], 3);
        assert_eq!(rows[1], Row { position: 4, slot: 4, prefix_end: 5, ..Row::reading(6.into()) });
    }

    #[test]
    fn a_suffix_attends_to_the_text_before_its_edit() {
        let request = ScoreRequest::new(&[1, 2, 3, 4, 5, 6], 3..6, &[]);
        assert_eq!(suffix(&request, &pass(1, 1)), Suffix { positions: 1..5, targets: 3..6 });
        let rows = suffix_rows(&request, &pass(1, 1), 10);
        assert_eq!(rows.iter().map(|row| row.token).collect::<Vec<_>>(), [9, 3, 4, 5]);
        assert_eq!(rows[2], Row { position: 3, slot: 12, prefix_end: 1, suffix_start: 10, suffix_end: 13, ..Row::reading(4.into()) });
    }

    #[test]
    fn a_sequence_begins_with_what_is_remembered_of_the_text_before_it() {
        let sequences =
            [Sequence::after_text(0..3, 0, 0), Sequence::after_text(3..5, 1, 7), Sequence::of_text(4, 0), Sequence::of_text(4, 9)];
        assert_eq!(
            sequences.each_ref().map(|sequence| sequence.before),
            [Before::Nothing, Before::Text(7), Before::Nothing, Before::Itself]
        );
        assert_eq!(sequences.each_ref().map(Sequence::replayed), [None, Some((7, 1)), None, None]);
    }

    #[test]
    fn a_gap_continues_the_token_before_it() {
        let row = gap_row(7, 4, 2, 20);
        assert_eq!(row, Row { position: 6, slot: 22, prefix_end: 4, suffix_start: 20, suffix_end: 23, ..Row::reading(7.into()) });
    }

    #[test]
    fn an_edit_inside_the_targets_leaves_those_up_to_it_alone() {
        let request = ScoreRequest::new(&[1, 2, 3, 4, 5, 6], 2..6, &[]);
        assert_eq!(suffix(&request, &pass(3, 1)).targets, 4..6);
        assert!(suffix(&request, &pass(5, 1)).positions.is_empty());
    }

    /// 400 tokens in 20 sentences, 8 of them generated; the last one is no source.
    #[test]
    fn the_work_is_that_of_suffixes_only() {
        let tokens = [0; 400];
        let passes: Vec<Pass> = (0..19).map(|j| pass(20 * j, 20)).collect();
        let request = ScoreRequest::new(&tokens, 240..400, &passes);
        let suffixes: Vec<Suffix> = passes.iter().map(|pass| suffix(&request, pass)).collect();
        let forward = 399 + suffixes.iter().map(|suffix| suffix.positions.len()).sum::<usize>();
        let heads = 160 + suffixes.iter().map(|suffix| suffix.targets.len()).sum::<usize>();
        let by_hand =
            (399 + (0..19).map(|j| 399 - 20 * j).sum::<usize>(), 160 + 12 * 160 + [159, 139, 119, 99, 79, 59, 39].iter().sum::<usize>());
        assert_eq!((forward, heads), by_hand);
        // One full pass for each source would read 399 tokens twenty times; one for each target and source, 124 times.
        assert!(20 * 399 * 10 > 17 * forward && 124 * 399 > 10 * forward);
    }

    #[test]
    fn whole_suffixes_fill_a_chunk_and_there_is_always_one() {
        assert_eq!(count_fitting([3, 3, 3].into_iter(), 7), 2);
        assert_eq!(count_fitting([30, 3].into_iter(), 7), 1);
        assert_eq!(count_fitting([0, 0, 2].into_iter(), 7), 3);
    }
}
