//! The decode step, recorded once and submitted for each token, and the tokens in flight.

use std::collections::VecDeque;

use super::activations::Activations;
use super::buffer::{Buffer, Readback};
use super::device::Gpu;
use super::head_buffers::SampleBuffers;
use super::kernels::sample::GpuDraw;
use super::recording::{DispatchList, encode};
use glasscage_model::tokenizer::TokenId;

/// A [`GpuDraw`].
pub type DrawWords = [u32; GpuDraw::N_WORDS];

/// Commands that pass one token through the whole model. Recorded once, submitted for each token.
pub struct DecodeStep {
    pub(super) dispatches: DispatchList,
    /// `[1]`: see [`super::batch::Row`].
    pub(super) row: Buffer,
    pub(super) buffers: SampleBuffers,
    pub(super) is_greedy: bool,
    pub(super) _activations: Activations,
    /// Tokens in flight in order, the oldest first. Each continues the one before it.
    pub(super) in_flight: VecDeque<TokenInFlight>,
    /// The token that the oldest one in flight continues.
    pub(super) last: Option<TokenId>,
    /// Free staging buffers for reading tokens back.
    pub(super) staging: Vec<Buffer>,
}

/// A token that the GPU has not returned yet.
pub struct TokenInFlight {
    /// Time of submission, in seconds since the device was opened.
    pub at: f64,
    pub draw: Option<DrawWords>,
    pub readback: Readback,
    pub staging: Buffer,
}

impl DecodeStep {
    /// Submits a step that reads `row`. If `is_ahead`, the GPU replaces the token of `row` by the one that it sampled last.
    pub fn submit(&mut self, gpu: &Gpu, row: &[u32], is_ahead: bool, draw: Option<DrawWords>) {
        gpu.write(&self.row, 0, row);
        if let Some(draw) = draw {
            gpu.write(&self.buffers.draw, 0, &draw);
        }
        let (at, mut encoder) = (gpu.now(), gpu.encoder());
        if is_ahead {
            // The token is the first word of a row.
            encoder.copy_buffer_to_buffer(&self.buffers.chosen.raw, 0, &self.row.raw, 0, 4);
        }
        encode(gpu, &self.dispatches.dispatches, &mut encoder);
        let staging = self.staging.pop().unwrap_or_else(|| gpu.staging_buffer(2));
        let readback = gpu.begin_read(encoder, &self.buffers.chosen, &staging);
        self.in_flight.push_back(TokenInFlight { at, draw, readback, staging });
    }

    /// Discards the tokens in flight. Later tokens overwrite their keys and values.
    pub fn forget(&mut self) {
        self.in_flight.clear();
        self.last = None;
    }
}
