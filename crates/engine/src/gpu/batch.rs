//! Converts texts and perturbations into rows for the kernels. Pure functions.

use std::ops::Range;

use super::wgsl::wgsl_struct;
use crate::lm::{Input, Pass, ScoreRequest};
use glasscage_model::tokenizer::TokenId;

wgsl_struct! {
    /// One token that passes through the layers.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Row {
        /// The input embedding is (1 - `blend`) times that of `token`, plus `blend` times that of `blend_with`.
        token: u32,
        blend_with: u32,
        blend: f32,
        /// Position in the text.
        position: u32,
        /// Cache slot for the key and value.
        slot: u32,
        /// The row attends to slots `0..prefix_end` of the text's keys,
        prefix_end: u32,
        /// and to slots `suffix_start..suffix_end` of the suffixes' keys.
        suffix_start: u32,
        suffix_end: u32,
    }
}

impl Row {
    /// The rows as 4-byte words for the kernels.
    pub fn all_words(rows: &[Self]) -> Vec<u32> {
        rows.iter().flat_map(Self::words).collect()
    }

    /// Number of keys that the row attends to.
    pub fn n_keys(&self) -> usize {
        (self.prefix_end + self.suffix_end - self.suffix_start) as usize
    }

    fn reading(input: Input) -> Self {
        Self { token: input.token, blend_with: input.blend_with, blend: input.blend, ..Self::default() }
    }
}

/// Rows of the text itself, from position `first` on. Each row attends to all earlier positions and to itself.
pub fn text_rows(inputs: &[Input], first: usize) -> Vec<Row> {
    let row = |(i, &input): (usize, &Input)| {
        let position = (first + i) as u32;
        Row { position, slot: position, prefix_end: position + 1, ..Row::reading(input) }
    };
    inputs.iter().enumerate().map(row).collect()
}

/// Index of the running state, which belongs to the text itself: see `recurrent_states`.
pub const RUNNING: usize = 0;

/// Consecutive rows of a batch that belong to one text, for recurrent layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub rows: Range<usize>,
    /// Index of its recurrent state: see `recurrent_states`.
    pub state: usize,
    pub before: Before,
}

/// Context before the first row of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    Nothing,
    /// The tokens in its recurrent state.
    Itself,
    /// The first N tokens of the text, N > 0.
    Text(usize),
    /// The tokens in its recurrent state. A convolution may still read the last of the first N tokens of the text.
    ItselfAndText(usize),
}

impl Sequence {
    /// Rows that follow the first `tokens` tokens of the text.
    pub fn after_text(rows: Range<usize>, state: usize, tokens: usize) -> Self {
        Self { rows, state, before: if tokens == 0 { Before::Nothing } else { Before::Text(tokens) } }
    }

    /// `n` rows of the text itself, from position `first` on.
    pub fn of_text(n: usize, first: usize) -> Self {
        Self { rows: 0..n, state: RUNNING, before: if first == 0 { Before::Nothing } else { Before::Itself } }
    }

    /// If the sequence starts from a state of the text: the number of text tokens in that state, and the index of the sequence's own
    /// state.
    pub fn replayed(&self) -> Option<(usize, usize)> {
        match self.before {
            Before::Text(tokens) => Some((tokens, self.state)),
            Before::Nothing | Before::Itself | Before::ItselfAndText(_) => None,
        }
    }

    /// Number of text tokens before the sequence, if it may read any of them.
    pub fn text_before(&self) -> Option<usize> {
        match self.before {
            Before::Text(tokens) | Before::ItselfAndText(tokens) => Some(tokens),
            Before::Nothing | Before::Itself => None,
        }
    }
}

/// Row that predicts token `i` of an infill span. It reads the token before that one. `position` is the position of the token before the
/// span. Keys and values of that token and of the span start at slot `first_slot`.
pub fn span_row(token: TokenId, position: usize, i: usize, first_slot: usize) -> Row {
    Row {
        position: (position + i) as u32,
        slot: (first_slot + i) as u32,
        prefix_end: position as u32,
        suffix_start: first_slot as u32,
        suffix_end: (first_slot + i + 1) as u32,
        ..Row::reading(token.into())
    }
}

/// The part of a request's text that one pass has to compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suffix {
    /// Positions that pass through the layers: from the first edit to the last position that predicts a target.
    pub positions: Range<usize>,
    /// Targets whose probability can differ from the base text's.
    pub targets: Range<usize>,
}

/// The suffix of `pass`. Both ranges are empty if no target comes after its first edit.
pub fn suffix(request: &ScoreRequest<'_>, pass: &Pass) -> Suffix {
    let start = pass.start();
    let targets = request.targets.start.max(start + 1)..request.targets.end;
    if targets.is_empty() {
        Suffix { positions: start..start, targets: start..start }
    } else {
        Suffix { positions: start..request.targets.end - 1, targets }
    }
}

/// Rows of the suffix of a pass. Their keys and values start at slot `first_slot` of the suffix cache.
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

/// Number of suffixes, counted from the first, that fit into `max_rows` together. At least one.
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
    fn text_attends_to_itself() {
        let rows = text_rows(&[5.into(), 6.into()], 3);
        assert_eq!(rows[1], Row { position: 4, slot: 4, prefix_end: 5, ..Row::reading(6.into()) });
    }

    #[test]
    fn suffix_attends_to_text_before_edit() {
        let request = ScoreRequest::new(&[1, 2, 3, 4, 5, 6], 3..6, &[]);
        assert_eq!(suffix(&request, &pass(1, 1)), Suffix { positions: 1..5, targets: 3..6 });
        let rows = suffix_rows(&request, &pass(1, 1), 10);
        assert_eq!(rows.iter().map(|row| row.token).collect::<Vec<_>>(), [9, 3, 4, 5]);
        assert_eq!(rows[2], Row { position: 3, slot: 12, prefix_end: 1, suffix_start: 10, suffix_end: 13, ..Row::reading(4.into()) });
    }

    #[test]
    fn sequence_begins_with_state_of_text_before_it() {
        let sequences =
            [Sequence::after_text(0..3, 0, 0), Sequence::after_text(3..5, 1, 7), Sequence::of_text(4, 0), Sequence::of_text(4, 9)];
        assert_eq!(
            sequences.each_ref().map(|sequence| sequence.before),
            [Before::Nothing, Before::Text(7), Before::Nothing, Before::Itself]
        );
        assert_eq!(sequences.each_ref().map(Sequence::replayed), [None, Some((7, 1)), None, None]);
    }

    #[test]
    fn infill_span_continues_token_before_it() {
        let row = span_row(7, 4, 2, 20);
        assert_eq!(row, Row { position: 6, slot: 22, prefix_end: 4, suffix_start: 20, suffix_end: 23, ..Row::reading(7.into()) });
    }

    #[test]
    fn edit_inside_targets_leaves_earlier_targets() {
        let request = ScoreRequest::new(&[1, 2, 3, 4, 5, 6], 2..6, &[]);
        assert_eq!(suffix(&request, &pass(3, 1)).targets, 4..6);
        assert!(suffix(&request, &pass(5, 1)).positions.is_empty());
    }

    /// 400 tokens in 20 sentences, of which the last 8 are generated. The last sentence is not a source.
    #[test]
    fn only_suffixes_are_computed() {
        let tokens = [0; 400];
        let passes: Vec<Pass> = (0..19).map(|j| pass(20 * j, 20)).collect();
        let request = ScoreRequest::new(&tokens, 240..400, &passes);
        let suffixes: Vec<Suffix> = passes.iter().map(|pass| suffix(&request, pass)).collect();
        let forward = 399 + suffixes.iter().map(|suffix| suffix.positions.len()).sum::<usize>();
        let heads = 160 + suffixes.iter().map(|suffix| suffix.targets.len()).sum::<usize>();
        let by_hand =
            (399 + (0..19).map(|j| 399 - 20 * j).sum::<usize>(), 160 + 12 * 160 + [159, 139, 119, 99, 79, 59, 39].iter().sum::<usize>());
        assert_eq!((forward, heads), by_hand);
        // Full passes would compute 399 tokens 20 times, with one pass per source, or 124 times, with one per source and target.
        assert!(20 * 399 * 10 > 17 * forward && 124 * 399 > 10 * forward);
    }

    #[test]
    fn chunk_has_whole_suffixes_at_least_one() {
        assert_eq!(count_fitting([3, 3, 3].into_iter(), 7), 2);
        assert_eq!(count_fitting([30, 3].into_iter(), 7), 1);
        assert_eq!(count_fitting([0, 0, 2].into_iter(), 7), 3);
    }
}
