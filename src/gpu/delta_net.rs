//! A Gated DeltaNet layer: its memory, and how that of an edited text begins.
//!
//! A pass needs the memory of the text where its first edit is. The layer keeps of the text what its convolution reads, and from that
//! computes the memories anew, once for all passes that run together: one goes on from where the one before it ends. They are needed in
//! one layer at a time.

use std::ops::Range;

use super::batch::{Before, Sequence};
use super::buffer::Buffer;
use super::kernels::convolution_columns::{self, ConvolutionColumns};
use super::kernels::delta_inputs::{self, DeltaInputs};
use super::kernels::delta_output::{self, DeltaOutput};
use super::kernels::delta_rule::{self, DeltaRule};
use super::layer_input::Mixed;
use super::mixer_sizes::MixerSizes;
use super::pacing::rows_per_dispatch;
use super::recording::Recording;
use crate::lm::blocks::blocks;
use crate::model::config::{Config, DeltaNet as Sizes};

/// The weights of one layer, between its projections.
pub struct DeltaNet {
    pub sizes: Sizes,
    /// Of the convolution, `[channels, taps]`.
    pub taps: usize,
    pub w: Buffer,
    /// Of each value head a, then of each dt.
    pub rates: Buffer,
    /// `[head_dim]`.
    pub norm: Buffer,
}

impl DeltaNet {
    /// Memories of the text where sequences begin, to their slots. Blocks have at most `block` rows.
    pub fn replay<'a>(&'a self, recording: &mut Recording<'a>, config: &Config, args: &Mixed<'a>) {
        let mut wanted: Vec<(usize, usize)> = args.batch.sequences.iter().filter_map(Sequence::replayed).collect();
        wanted.sort_unstable();
        let mut from: Option<(usize, usize)> = None;
        for (tokens, slot) in wanted {
            let first = from.map_or(0, |(tokens, _)| tokens);
            let mut memory = from.map(|(_, slot)| slot);
            for block in blocks(first..tokens, args.activations.block) {
                self.take_in(recording, config, args, &block, true);
                self.step(recording, config, args, &Part { rows: 0..block.len(), from: memory, to: slot, is_read: false });
                memory = Some(slot);
            }
            if tokens == first {
                self.step(recording, config, args, &Part { rows: 0..0, from: memory, to: slot, is_read: false });
            }
            from = Some((tokens, slot));
        }
    }

    /// A block of rows through the memories of their sequences.
    pub fn record<'a>(&'a self, recording: &mut Recording<'a>, config: &Config, args: &Mixed<'a>) {
        let (block, sizes, own) = (&args.block, MixerSizes::of(config, args.layer), args.batch.own.of(args.layer));
        let (projected, mixed) = (&args.activations.projected.buffer, &args.activations.mixed.buffer);
        self.take_in(recording, config, args, block, false);
        let columns = ConvolutionColumns {
            rows: args.batch.rows,
            first: block.start,
            n: block.len(),
            channels: sizes.slot,
            projected,
            stride: sizes.projected,
            factor: None,
            cache: own[0],
            ring: args.batch.own_ring,
        };
        convolution_columns::record(recording, &columns);
        for sequence in args.batch.sequences {
            let rows = block.start.max(sequence.rows.start)..block.end.min(sequence.rows.end);
            if rows.is_empty() {
                continue;
            }
            let begins = rows.start == sequence.rows.start && sequence.before == Before::Nothing;
            let from = (!begins).then_some(sequence.memory);
            let rows = rows.start - block.start..rows.end - block.start;
            self.step(recording, config, args, &Part { rows, from, to: sequence.memory, is_read: true });
        }
        let (norm, epsilon, gate_stride, gate_first) = (&self.norm, config.norm_epsilon, sizes.projected, sizes.slot);
        let output =
            DeltaOutput { n: block.len(), norm, epsilon, gates: projected, gate_stride, gate_first, y: mixed, y_stride: sizes.mixed };
        delta_output::record(recording, self.sizes, &output);
    }

    /// Queries, keys, values and rates of a block of rows: of the batch, or of the text by what is kept of it.
    fn take_in<'a>(&'a self, recording: &mut Recording<'a>, config: &Config, args: &Mixed<'a>, block: &Range<usize>, is_replay: bool) {
        let (batch, sizes) = (&args.batch, MixerSizes::of(config, args.layer));
        let ([text, _], [own, _]) = (batch.text.of(args.layer), batch.own.of(args.layer));
        let (rows, suffix) = if is_replay { (batch.text_rows, text) } else { (batch.rows, own) };
        let inputs = DeltaInputs {
            rows,
            first: block.start,
            n: block.len(),
            taps: self.taps,
            w: &self.w,
            rates: &self.rates,
            text,
            suffix,
            ring: batch.text_ring,
            projected: &args.activations.projected.buffer,
            stride: sizes.projected,
            is_replay,
            y: &args.activations.prepared.buffer,
            y_stride: sizes.prepared,
        };
        delta_inputs::record(recording, self.sizes, &inputs);
    }

    /// Rows of one sequence, in several dispatches where that is more than one should take.
    fn step<'a>(&self, recording: &mut Recording<'a>, config: &Config, args: &Mixed<'a>, part: &Part) {
        let sizes = MixerSizes::of(config, args.layer);
        let at_once = match args.batch.is_step {
            true => 1,
            false => rows_per_dispatch(recording.max_dispatch(), delta_rule::operations_per_row(self.sizes), 1),
        };
        let mut from = part.from;
        let parts: Vec<Range<usize>> = blocks(part.rows.clone(), at_once).collect();
        for rows in if parts.is_empty() { vec![part.rows.clone()] } else { parts } {
            let rule = DeltaRule {
                first: rows.start,
                n: rows.len(),
                inputs: &args.activations.prepared.buffer,
                stride: sizes.prepared,
                states: args.batch.own.of(args.layer)[1],
                from,
                to: part.to,
                y: &args.activations.mixed.buffer,
                y_stride: sizes.mixed,
                is_read: part.is_read,
            };
            delta_rule::record(recording, self.sizes, &rule);
            from = Some(part.to);
        }
    }
}

/// Rows of a block that belong to one sequence, and the slots of its memory before and after them.
struct Part {
    rows: Range<usize>,
    from: Option<usize>,
    to: usize,
    is_read: bool,
}
