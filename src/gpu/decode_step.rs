//! What is recorded once to generate any number of tokens, and those on their way.

use std::collections::VecDeque;

use super::activations::Activations;
use super::buffer::{Buffer, Readback};
use super::device::Gpu;
use super::head_buffers::SampleBuffers;
use super::kernels::sample::GpuDraw;
use super::recording::{DispatchList, encode};
use crate::model::tokenizer::TokenId;

/// A [`GpuDraw`].
pub type DrawWords = [u32; GpuDraw::N_WORDS];

/// One token through the whole model, recorded once and run for each.
pub struct DecodeStep {
    pub(super) dispatches: DispatchList,
    /// `[1]`: see [`super::batch::Row`].
    pub(super) row: Buffer,
    pub(super) buffers: SampleBuffers,
    pub(super) is_greedy: bool,
    pub(super) _activations: Activations,
    /// Tokens on their way, each after the one before it; the oldest first.
    pub(super) in_flight: VecDeque<TokenInFlight>,
    /// What the oldest one comes after.
    pub(super) last: Option<TokenId>,
    /// To read tokens back with.
    pub(super) staging: Vec<Buffer>,
}

/// A token that is not known yet.
pub struct TokenInFlight {
    /// When its work was submitted.
    pub at: f64,
    pub draw: Option<DrawWords>,
    pub readback: Readback,
    pub staging: Buffer,
}

impl DecodeStep {
    /// Submits a step: `row` is that of the token to read, which is the one sampled last, whatever it is, where that `is_ahead`.
    pub fn submit(&mut self, gpu: &Gpu, row: &[u32], is_ahead: bool, draw: Option<DrawWords>) {
        gpu.write(&self.row, 0, row);
        if let Some(draw) = draw {
            gpu.write(&self.buffers.draw, 0, &draw);
        }
        let (at, mut encoder) = (gpu.now(), gpu.encoder());
        if is_ahead {
            // A row begins with its token.
            encoder.copy_buffer_to_buffer(&self.buffers.chosen.raw, 0, &self.row.raw, 0, 4);
        }
        encode(gpu, &self.dispatches.dispatches, &mut encoder);
        let staging = self.staging.pop().unwrap_or_else(|| gpu.staging_buffer(2));
        let readback = gpu.begin_read(encoder, &self.buffers.chosen, &staging);
        self.in_flight.push_back(TokenInFlight { at, draw, readback, staging });
    }

    /// Nobody wants the tokens on their way: their keys and values will be written over.
    pub fn forget(&mut self) {
        self.in_flight.clear();
        self.last = None;
    }
}
