//! What is recorded once to generate any number of tokens.

use super::activations::Activations;
use super::buffer::Buffer;
use super::head_buffers::SampleBuffers;
use super::recording::DispatchList;

/// One token through the whole model, recorded once and run for each.
pub struct DecodeStep {
    pub(super) dispatches: DispatchList,
    /// `[1]`: see [`super::batch::Row`].
    pub(super) row: Buffer,
    pub(super) buffers: SampleBuffers,
    pub(super) is_greedy: bool,
    pub(super) _activations: Activations,
}
