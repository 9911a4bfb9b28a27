//! Plans which tokens the recurrent layers recompute when a pass starts in the middle of the text. Pure functions.
//!
//! A pass needs the recurrent state of the text at its first edit. Layers cache their inputs, one row per token, and recompute the states
//! from them, in one layer at a time. The running state advances by whole chunks, also for later passes. Each pass has its own state from
//! the end of the last whole chunk before its edit. So the state of a pass does not depend on the other passes.

use std::ops::Range;

use super::batch::{RUNNING, Sequence};
use super::kernels::delta_rule::CHUNK;
use crate::lm::blocks::blocks;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Tokens that are projected again.
    pub tokens: Range<usize>,
    pub steps: Vec<Step>,
    /// Tokens in the running state afterward.
    pub running: usize,
}

/// Advances a state by `tokens` and stores the result in another state. Copies the state if `tokens` is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub tokens: Range<usize>,
    /// `None` at the start of the text.
    pub from: Option<usize>,
    pub to: usize,
}

impl Replay {
    /// Plans the replay for sequences that begin inside the text or read from it. Returns `None` if there are no such sequences. The
    /// running state contains `running` tokens (whole chunks). A convolution reads `past` tokens before its own.
    pub fn new(sequences: &[Sequence], running: usize, past: usize) -> Option<Self> {
        let mut wanted: Vec<(usize, usize)> = sequences.iter().filter_map(Sequence::replayed).collect();
        wanted.sort_unstable();
        let read = || sequences.iter().filter_map(Sequence::text_before);
        let (least, most) = (read().min()?, read().max()?);
        let first = match wanted.is_empty() {
            true => least,
            false if running <= least => running,
            false => 0,
        };
        let running = if wanted.is_empty() { running } else { first };
        let mut replay = Self { tokens: first.saturating_sub(past)..most, steps: Vec::new(), running };
        for (tokens, to) in wanted {
            let whole = tokens / CHUNK * CHUNK;
            if whole > replay.running {
                replay.step(whole, RUNNING);
                replay.running = whole;
            }
            replay.step(tokens, to);
        }
        Some(replay)
    }

    fn step(&mut self, end: usize, to: usize) {
        let from = (self.running > 0).then_some(RUNNING);
        self.steps.push(Step { tokens: self.running..end, from, to });
    }
}

/// Splits the rows of a batch into blocks of at most `size` that end at chunk boundaries of their sequences. A block can end elsewhere
/// only if no boundary is in reach.
pub fn chunked_blocks(sequences: &[Sequence], n: usize, size: usize) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut start = 0;
    while start < n {
        let most = n.min(start + size);
        let divided = sequences.iter().map(|sequence| &sequence.rows).find(|rows| rows.start < most && most < rows.end);
        let whole = divided.map_or(most, |rows| rows.start + (most - rows.start) / CHUNK * CHUNK);
        let end = if whole > start { whole } else { most };
        all.push(start..end);
        start = end;
    }
    all
}

/// Splits tokens into blocks of at most `size`, in whole chunks if `size` allows it.
pub fn whole_chunks(tokens: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    blocks(tokens, if size < CHUNK { size } else { size / CHUNK * CHUNK })
}

#[cfg(test)]
mod tests {
    use super::super::batch::Before;
    use super::*;

    fn passes(starts: &[usize]) -> Vec<Sequence> {
        starts.iter().enumerate().map(|(i, &start)| Sequence::after_text(9 * i..9 * i + 9, i + 1, start)).collect()
    }

    fn step(tokens: Range<usize>, from: Option<usize>, to: usize) -> Step {
        Step { tokens, from, to }
    }

    #[test]
    fn pass_continues_from_last_whole_chunk() {
        let replay = Replay::new(&passes(&[70, 0, 10, 64]), 0, 3).unwrap();
        let steps = [step(0..10, None, 3), step(0..64, None, RUNNING), step(64..64, Some(RUNNING), 4), step(64..70, Some(RUNNING), 1)];
        assert_eq!(replay, Replay { tokens: 0..70, steps: steps.into(), running: 64 });
    }

    #[test]
    fn later_passes_end_with_same_steps() {
        let all = Replay::new(&passes(&[10, 70, 200]), 0, 3).unwrap();
        let later = Replay::new(&passes(&[200])[..], 64, 3).unwrap();
        assert_eq!(later.tokens, 61..200);
        assert_eq!(later.steps, [step(64..192, Some(RUNNING), RUNNING), step(192..200, Some(RUNNING), 1)]);
        assert_eq!(all.steps.last().map(|step| &step.tokens), later.steps.last().map(|step| &step.tokens));
        // A pass with an earlier edit starts from the beginning.
        assert_eq!(Replay::new(&passes(&[40]), 64, 3).unwrap().tokens, 0..40);
        assert_eq!(Replay::new(&passes(&[0]), 64, 3), None);
    }

    #[test]
    fn own_state_needs_only_convolution_inputs() {
        let spans = [40, 9].map(|tokens| Sequence { before: Before::ItselfAndText(tokens), ..Sequence::of_text(1, 0) });
        assert_eq!(Replay::new(&spans, 32, 3), Some(Replay { tokens: 6..40, steps: Vec::new(), running: 32 }));
        assert_eq!(Replay::new(&[Sequence::of_text(1, 5)], 32, 3), None);
    }

    #[test]
    fn blocks_end_at_chunk_boundaries() {
        let sequences = [0..100, 100..110, 110..300].map(|rows| Sequence::after_text(rows, 1, 1));
        assert_eq!(chunked_blocks(&sequences, 300, 64), [0..64, 64..128 - 18, 110..174, 174..238, 238..300]);
        assert_eq!(chunked_blocks(&sequences, 300, 512), vec![Range { start: 0, end: 300 }]);
        assert!(chunked_blocks(&sequences[..1], 100, 5).iter().all(|block| block.len() <= 5));
        assert_eq!(whole_chunks(64..200, 70).collect::<Vec<_>>(), [64..128, 128..192, 192..200]);
    }
}
