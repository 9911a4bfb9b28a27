//! A list of dispatches, recorded once and submitted any number of times.

#[cfg(all(test, not(target_arch = "wasm32")))]
mod interpreted;

use std::rc::Rc;

use web_time::Instant;

use super::buffer::Buffer;
use super::device::Gpu;
use super::kernel::{Kernel, Pipeline};
#[cfg(not(target_arch = "wasm32"))]
use super::timestamps::{self, Work};
use super::wgsl::Fields;
use crate::lm::LmError;

/// Uniform bindings begin at multiples of this many bytes on every device.
const ALIGNMENT: usize = 256;

/// Assumed floating-point operations per item of a dispatch whose operations are not counted.
const OPERATIONS_PER_ITEM: f64 = 64.0;

/// Dispatches during recording.
pub struct Recording<'a> {
    gpu: &'a Gpu,
    dispatches: Vec<Pending<'a>>,
    /// Parameters of all dispatches. Each dispatch's parameters start at a multiple of [`ALIGNMENT`].
    params: Vec<u8>,
}

struct Pending<'a> {
    kernel: Kernel,
    /// Offset and length in bytes; length 0 if the kernel has no parameters.
    params: (usize, usize),
    buffers: Vec<&'a Buffer>,
    workgroups: [u32; 2],
    operations: f64,
}

/// Dispatches that run in order, with their bindings.
pub struct DispatchList {
    pub(super) dispatches: Vec<Dispatch>,
    pub(super) params: Buffer,
}

pub struct Dispatch {
    pipeline: Rc<Pipeline>,
    bindings: wgpu::BindGroup,
    workgroups: [u32; 2],
    /// Approximate number of floating-point operations.
    pub(super) operations: f64,
}

impl<'a> Recording<'a> {
    pub fn new(gpu: &'a Gpu) -> Self {
        Self { gpu, dispatches: Vec::new(), params: Vec::new() }
    }

    pub fn gpu(&self) -> &'a Gpu {
        self.gpu
    }

    /// Maximum number of operations that one dispatch should have.
    pub fn max_dispatch(&self) -> f64 {
        self.gpu.pacing.borrow().max_dispatch()
    }

    /// Adds a dispatch over `items`. `params` is the kernel's `Params`, which is binding 0; `buffers` are the bindings after it.
    pub fn dispatch(&mut self, kernel: Kernel, params: impl Into<Fields>, buffers: &[&'a Buffer], items: [usize; 2]) {
        self.dispatch_of(OPERATIONS_PER_ITEM * (items[0] * items[1]) as f64, kernel, params.into(), buffers, items);
    }

    /// Like [`Recording::dispatch`], for a dispatch with this many floating-point operations.
    pub fn dispatch_of(&mut self, operations: f64, kernel: Kernel, params: Fields, buffers: &[&'a Buffer], items: [usize; 2]) {
        let Fields { wgsl, words } = params;
        let kernel = kernel.with_params(wgsl);
        let offset = self.params.len();
        self.params.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self.params.resize(self.params.len().next_multiple_of(ALIGNMENT), 0);
        let workgroups = [0, 1].map(|axis| items[axis].div_ceil(kernel.items_per_workgroup[axis]) as u32);
        self.dispatches.push(Pending {
            kernel,
            // A uniform struct is padded to a multiple of 16 bytes.
            params: (offset, (4 * words.len()).next_multiple_of(16)),
            buffers: buffers.to_vec(),
            workgroups,
            operations,
        });
    }

    /// Adds a dispatch of a kernel without parameters. `buffers` are the bindings from 0 on.
    pub fn dispatch_without_params(&mut self, kernel: Kernel, buffers: &[&'a Buffer], items: [usize; 2]) {
        self.dispatch(kernel, Fields::default(), buffers, items);
    }

    pub fn finish(self) -> DispatchList {
        let params = self.gpu.uniform_buffer(&self.params);
        let dispatches = self.dispatches.into_iter().map(|pending| pending.bind(self.gpu, &params)).collect();
        DispatchList { dispatches, params }
    }

    /// Finishes and submits once, without a limit on its time: see [`super::submissions::Submissions`].
    pub fn run(self) {
        #[cfg(all(test, not(target_arch = "wasm32")))]
        if let Some(arithmetic) = self.gpu.interpreter {
            return self.interpret(arithmetic);
        }
        let gpu = self.gpu;
        self.finish().run(gpu);
    }
}

impl Pending<'_> {
    fn bind(self, gpu: &Gpu, params: &Buffer) -> Dispatch {
        let pipeline = gpu.pipeline(&self.kernel);
        let (offset, length) = self.params;
        let params = (length > 0).then(|| {
            let size = std::num::NonZeroU64::new(length as u64);
            wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &params.raw, offset: offset as u64, size })
        });
        let resources = params.into_iter().chain(self.buffers.iter().map(|buffer| buffer.raw.as_entire_binding()));
        let entries: Vec<_> = resources.enumerate().map(|(i, resource)| wgpu::BindGroupEntry { binding: i as u32, resource }).collect();
        let bindings =
            gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &pipeline.layout, entries: &entries });
        Dispatch { pipeline, bindings, workgroups: self.workgroups, operations: self.operations }
    }
}

impl DispatchList {
    /// Submits all dispatches and returns immediately.
    pub fn run(&self, gpu: &Gpu) {
        let mut encoder = gpu.encoder();
        encode(gpu, &self.dispatches, &mut encoder);
        gpu.submit(encoder);
    }

    /// Runs all dispatches, waits until `output` can be read, and returns the seconds that both take.
    pub async fn seconds(&self, gpu: &Gpu, output: &Buffer) -> Result<f64, LmError> {
        let began = Instant::now();
        self.run(gpu);
        gpu.read(output, 1).await?;
        Ok(began.elapsed().as_secs_f64())
    }
}

/// Encodes dispatches that run in order.
pub fn encode(gpu: &Gpu, dispatches: &[Dispatch], encoder: &mut wgpu::CommandEncoder) {
    gpu.stats.dispatches.set(gpu.stats.dispatches.get() + dispatches.len());
    #[cfg(not(target_arch = "wasm32"))]
    if let Some(timestamps) = &gpu.timestamps {
        for part in dispatches.chunks(timestamps::MOST) {
            let work = part.iter().map(|dispatch| Work { pipeline: dispatch.pipeline.clone(), operations: dispatch.operations }).collect();
            timestamps.encode(&gpu.device, encoder, work, |i, pass| part[i].encode(pass));
        }
        return;
    }
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    dispatches.iter().for_each(|dispatch| dispatch.encode(&mut pass));
}

impl Dispatch {
    fn encode(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.dispatch_workgroups(self.workgroups[0], self.workgroups[1], 1);
    }
}
