//! Takes a timestamp before and after every dispatch, for profiles. Natively only, on a device that was opened with
//! `Options::takes_timestamps`. A profiled run is slower than a normal one, because each dispatch is a pass of its own.

use std::cell::RefCell;
use std::rc::Rc;

use wgpu::{BufferDescriptor, BufferUsages, ComputePassDescriptor, ComputePassTimestampWrites, QuerySetDescriptor, QueryType};

use super::kernel::Pipeline;

/// Maximum number of dispatches that are encoded together.
pub const MOST: usize = wgpu::QUERY_SET_MAX_QUERIES as usize / 2;

/// Timestamps that were not read yet.
#[derive(Default)]
pub struct Timestamps(RefCell<Vec<Timed>>);

/// Dispatches that run in order, and the buffer that receives the two timestamps of each, 8 bytes per timestamp.
pub struct Timed {
    pub work: Vec<Work>,
    pub staging: wgpu::Buffer,
}

/// The computation of a dispatch.
pub struct Work {
    pub pipeline: Rc<Pipeline>,
    /// Approximate number of floating-point operations.
    pub operations: f64,
}

impl Timestamps {
    /// Encodes at most [`MOST`] dispatches, each between two timestamps. `encode` encodes the dispatch with the given index.
    pub fn encode(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        work: Vec<Work>,
        encode: impl Fn(usize, &mut wgpu::ComputePass<'_>),
    ) {
        let count = 2 * work.len() as u32;
        let query_set = device.create_query_set(&QuerySetDescriptor { label: None, ty: QueryType::Timestamp, count });
        for (i, begin) in (0..count).step_by(2).enumerate() {
            let timestamp_writes = Some(ComputePassTimestampWrites {
                query_set: &query_set,
                beginning_of_pass_write_index: Some(begin),
                end_of_pass_write_index: Some(begin + 1),
            });
            encode(i, &mut encoder.begin_compute_pass(&ComputePassDescriptor { label: None, timestamp_writes }));
        }
        let buffer =
            |usage| device.create_buffer(&BufferDescriptor { label: None, size: 8 * u64::from(count), usage, mapped_at_creation: false });
        let resolved = buffer(BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC);
        let staging = buffer(BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        encoder.resolve_query_set(&query_set, 0..count, &resolved, 0);
        encoder.copy_buffer_to_buffer(&resolved, 0, &staging, 0, resolved.size());
        self.0.borrow_mut().push(Timed { work, staging });
    }

    /// Takes what was encoded since the last call.
    pub fn take(&self) -> Vec<Timed> {
        self.0.take()
    }
}
