//! A list of dispatches that is written once and submitted as often as wanted.

use std::rc::Rc;

use super::device::{Buffer, Gpu};
use super::kernel::{Kernel, Pipeline};

/// Uniform bindings begin at multiples of this many bytes on every device.
const ALIGNMENT: usize = 256;

/// Dispatches in the making.
pub struct Recording<'a> {
    gpu: &'a Gpu,
    steps: Vec<Pending<'a>>,
    parameters: Vec<u8>,
}

struct Pending<'a> {
    pipeline: Rc<Pipeline>,
    /// Offset and length of its parameters in bytes; length 0 for none.
    parameters: (usize, usize),
    buffers: Vec<&'a Buffer>,
    workgroups: [u32; 2],
}

/// Dispatches that run one after the other, each with its bindings.
pub struct Program {
    steps: Vec<Step>,
    _parameters: Buffer,
}

struct Step {
    pipeline: Rc<Pipeline>,
    bindings: wgpu::BindGroup,
    workgroups: [u32; 2],
}

impl<'a> Recording<'a> {
    pub fn new(gpu: &'a Gpu) -> Self {
        Self { gpu, steps: Vec::new(), parameters: Vec::new() }
    }

    pub fn gpu(&self) -> &'a Gpu {
        self.gpu
    }

    /// Adds a dispatch over `items`. `parameters` are the fields of the kernel's `Params` in order (floats as bits), which is
    /// binding 0; `buffers` are the bindings after it, or from 0 on where there are no parameters.
    pub fn dispatch(&mut self, kernel: &Kernel, parameters: &[u32], buffers: &[&'a Buffer], items: [usize; 2]) {
        let at = self.parameters.len();
        self.parameters.extend(parameters.iter().flat_map(|parameter| parameter.to_le_bytes()));
        self.parameters.resize(self.parameters.len().next_multiple_of(ALIGNMENT), 0);
        let workgroups = [0, 1].map(|axis| items[axis].div_ceil(kernel.covers[axis]) as u32);
        self.steps.push(Pending {
            pipeline: self.gpu.pipeline(kernel),
            // A uniform struct is padded to a multiple of 16 bytes.
            parameters: (at, (4 * parameters.len()).next_multiple_of(16)),
            buffers: buffers.to_vec(),
            workgroups,
        });
    }

    pub fn finish(self) -> Program {
        let uniforms = self.gpu.uniforms(&self.parameters);
        let steps = self.steps.into_iter().map(|pending| pending.bind(self.gpu, &uniforms)).collect();
        Program { steps, _parameters: uniforms }
    }

    /// Finishes and submits once.
    pub fn run(self) {
        let gpu = self.gpu;
        self.finish().run(gpu);
    }
}

impl Pending<'_> {
    fn bind(self, gpu: &Gpu, uniforms: &Buffer) -> Step {
        let (offset, length) = self.parameters;
        let parameters = (length > 0).then(|| {
            let size = std::num::NonZeroU64::new(length as u64);
            wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &uniforms.raw, offset: offset as u64, size })
        });
        let resources = parameters.into_iter().chain(self.buffers.iter().map(|buffer| buffer.raw.as_entire_binding()));
        let entries: Vec<_> = resources.enumerate().map(|(i, resource)| wgpu::BindGroupEntry { binding: i as u32, resource }).collect();
        let bindings =
            gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &self.pipeline.layout, entries: &entries });
        Step { pipeline: self.pipeline, bindings, workgroups: self.workgroups }
    }
}

impl Program {
    /// Submits all dispatches; returns at once.
    pub fn run(&self, gpu: &Gpu) {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for step in &self.steps {
            pass.set_pipeline(&step.pipeline.pipeline);
            pass.set_bind_group(0, &step.bindings, &[]);
            pass.dispatch_workgroups(step.workgroups[0], step.workgroups[1], 1);
        }
        drop(pass);
        gpu.queue.submit([encoder.finish()]);
        gpu.ledger.dispatches.set(gpu.ledger.dispatches.get() + self.steps.len());
    }
}
