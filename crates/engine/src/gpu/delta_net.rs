//! A Gated DeltaNet layer: its recurrent state, and how the state at the start of an edited text is computed.

use std::ops::Range;

use super::batch::Before;
use super::buffer::Buffer;
use super::kernels::RowView;
use super::kernels::convolution_columns::{self, ConvolutionColumns, NO_RING};
use super::kernels::delta_inputs::{self, DeltaInputs};
use super::kernels::delta_output::{self, DeltaOutput};
use super::kernels::delta_rule::{self, CHUNK, DeltaRule};
use super::kernels::matmul::{self, Matmul};
use super::layer_input::{Mixed, Replayed};
use super::mixer_sizes::MixerSizes;
use super::pacing::rows_per_dispatch;
use super::recording::Recording;
use super::replay::{Step, whole_chunks};
use super::weights::Matrix;
use crate::lm::blocks::blocks;
use glasscage_model::config::{Config, DeltaNet as Sizes};

/// The weights of one layer, except its projections.
pub struct DeltaNet {
    pub sizes: Sizes,
    /// Taps of the convolution; its weights `w` are `[channels, taps]`.
    pub taps: usize,
    pub w: Buffer,
    /// a of each value head, then dt bias of each value head.
    pub rates: Buffer,
    /// `[head_dim]`.
    pub norm: Buffer,
}

impl DeltaNet {
    /// Computes the recurrent states of the text where sequences begin, from the cached inputs of the layer: see [`super::replay`].
    pub fn replay<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        config: &Config,
        projection: &'a Matrix,
        args: &Mixed<'a>,
        replayed: &'a Replayed,
    ) {
        let (sizes, activations) = (MixerSizes::of(config, args.layer), args.activations);
        let Some(inputs) = args.batch.text.inputs_of(args.layer) else { return };
        let y = activations.projected.view_of(sizes.projected);
        for block in blocks(replayed.replay.tokens.clone(), activations.block) {
            let x = RowView::new(inputs, activations.normed.stride).starting_at(block.start);
            for slab in &projection.slabs {
                // Skip the gates: a replay does not need them.
                let rows = 0..sizes.slot.saturating_sub(slab.rows.start).min(slab.rows.len());
                matmul::record(recording, &Matmul { rows, ..Matmul::by_slab(slab, block.len(), x, y) });
            }
            self.keep(recording, &replayed.rows, &block, y, sizes.slot, (&replayed.columns, NO_RING));
        }
        for Step { tokens, from, to } in &replayed.replay.steps {
            let mut from = *from;
            for block in whole_chunks(tokens.clone(), activations.block) {
                self.update(recording, config, args, &block, Some(replayed));
                self.step(recording, config, args, &Part { rows: 0..block.len(), from, to: *to, is_read: false });
                from = Some(*to);
            }
            if tokens.is_empty() {
                self.step(recording, config, args, &Part { rows: 0..0, from, to: *to, is_read: false });
            }
        }
    }

    /// Passes a block of rows through the recurrent states of their sequences.
    pub fn record<'a>(&'a self, recording: &mut Recording<'a>, config: &Config, args: &Mixed<'a>) {
        let (block, sizes, own) = (&args.block, MixerSizes::of(config, args.layer), args.batch.own);
        let (activations, rows) = (args.activations, args.batch.rows);
        let (projected, mixed) = (&activations.projected.buffer, &activations.mixed.buffer);
        self.update(recording, config, args, block, None);
        self.keep(recording, rows, block, activations.projected.view_of(sizes.projected), sizes.slot, (own.of(args.layer), own.ring));
        if let Some(inputs) = own.inputs_of(args.layer) {
            let normed = activations.normed.view();
            self.keep(recording, rows, block, normed, normed.stride, (inputs, NO_RING));
        }
        for sequence in args.batch.sequences {
            let rows = block.start.max(sequence.rows.start)..block.end.min(sequence.rows.end);
            if rows.is_empty() {
                continue;
            }
            let begins = rows.start == sequence.rows.start && sequence.before == Before::Nothing;
            let from = (!begins).then_some(sequence.state);
            let rows = rows.start - block.start..rows.end - block.start;
            self.step(recording, config, args, &Part { rows, from, to: sequence.state, is_read: true });
        }
        let (norm, epsilon, gate_stride, gate_first) = (&self.norm, config.norm_epsilon, sizes.projected, sizes.slot);
        let output =
            DeltaOutput { n: block.len(), norm, epsilon, gates: projected, gate_stride, gate_first, y: mixed, y_stride: sizes.mixed };
        delta_output::record(recording, self.sizes, &output);
    }

    /// Copies the first `channels` values of each row of a block to its cache slot.
    fn keep<'a>(
        &self,
        recording: &mut Recording<'a>,
        rows: &'a Buffer,
        block: &Range<usize>,
        RowView { buffer: projected, stride, .. }: RowView<'a>,
        channels: usize,
        (cache, ring): (&'a Buffer, usize),
    ) {
        let (first, n) = (block.start, block.len());
        let columns = ConvolutionColumns { rows, first, n, channels, projected, stride, factor: None, cache, ring };
        convolution_columns::record(recording, &columns);
    }

    /// Queries, keys, values and rates of a block of rows: rows of the batch, or replayed rows of the text.
    fn update<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        config: &Config,
        args: &Mixed<'a>,
        block: &Range<usize>,
        replayed: Option<&'a Replayed>,
    ) {
        let (batch, sizes) = (&args.batch, MixerSizes::of(config, args.layer));
        let (text, text_ring) = match batch.replayed {
            Some(replayed) => (&replayed.columns, NO_RING),
            None => (batch.text.of(args.layer), batch.text.ring),
        };
        let inputs = DeltaInputs {
            rows: replayed.map_or(batch.rows, |replayed| &replayed.rows),
            first: block.start,
            n: block.len(),
            taps: self.taps,
            w: &self.w,
            rates: &self.rates,
            text,
            suffix: batch.own.of(args.layer),
            text_ring,
            suffix_ring: batch.own.ring,
            projected: &args.activations.projected.buffer,
            stride: sizes.projected,
            is_replay: replayed.is_some(),
            y: &args.activations.prepared.buffer,
            y_stride: sizes.prepared,
        };
        delta_inputs::record(recording, self.sizes, &inputs);
    }

    /// Updates the state with rows of one sequence. Uses several dispatches if one would take too long.
    fn step<'a>(&self, recording: &mut Recording<'a>, config: &Config, args: &Mixed<'a>, part: &Part) {
        let (sizes, activations) = (MixerSizes::of(config, args.layer), args.activations);
        let at_once = match args.batch.is_step {
            true => 1,
            false => rows_per_dispatch(recording.max_dispatch(), delta_rule::operations_per_row(self.sizes), CHUNK),
        };
        let (states, to) = args.batch.recurrent_states.of(args.layer, part.to);
        let mut from = part.from.map(|from| args.batch.recurrent_states.of(args.layer, from).1);
        let parts: Vec<Range<usize>> = blocks(part.rows.clone(), at_once).collect();
        for rows in if parts.is_empty() { vec![part.rows.clone()] } else { parts } {
            let rule = DeltaRule {
                first: rows.start,
                n: rows.len(),
                inputs: &activations.prepared.buffer,
                stride: sizes.prepared,
                products: &activations.products.buffer,
                states,
                from,
                to,
                y: &activations.mixed.buffer,
                y_stride: sizes.mixed,
                is_read: part.is_read,
            };
            delta_rule::record(recording, self.sizes, &rule);
            from = Some(to);
        }
    }
}

/// Rows of a block that belong to one sequence, and the indices of its recurrent state before and after them.
struct Part {
    rows: Range<usize>,
    from: Option<usize>,
    to: usize,
    is_read: bool,
}
