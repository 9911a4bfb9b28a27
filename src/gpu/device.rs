//! The GPU: adapter, device, buffers, what it said went wrong.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use futures::channel::oneshot;
use wgpu::{BufferUsages, DeviceType, ErrorFilter, MapMode, PollType};

use super::kernel::{Kernel, Pipeline};
use super::variant::Variant;
use crate::lm::LmError;

/// What one wants of a GPU; the default is what its adapter suggests.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub variant: Option<&'static Variant>,
    /// No matrix is put into a buffer larger than this, in bytes; for tests of matrices that have to be split.
    pub max_matrix_bytes: Option<u64>,
}

/// An open device and all that belongs to it.
pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub adapter: Adapter,
    pub variant: &'static Variant,
    /// The largest storage buffer that a kernel can see.
    pub max_buffer_bytes: u64,
    /// The largest one for a matrix.
    pub max_matrix_bytes: u64,
    pub ledger: Rc<Ledger>,
    pub(super) pipelines: RefCell<HashMap<Kernel, Rc<Pipeline>>>,
    failure: Arc<Mutex<Option<Failure>>>,
}

/// What is known of the hardware.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// Empty in browsers, which do not tell.
    pub name: String,
    /// The CPU plays GPU.
    pub is_software: bool,
}

/// Why a device stopped working, in the words of its driver. One may lead to those before it: the last of these is the cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    Broken(String),
    Lost(String),
    OutOfMemory,
}

/// Work and memory of a device, counted.
#[derive(Default)]
pub struct Ledger {
    pub dispatches: Cell<usize>,
    pub bytes_read_back: Cell<u64>,
    pub bytes: Cell<u64>,
    pub peak_bytes: Cell<u64>,
}

/// GPU memory, counted while it lives.
pub struct Buffer {
    pub raw: wgpu::Buffer,
    ledger: Rc<Ledger>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.ledger.bytes.set(self.ledger.bytes.get() - self.raw.size());
        // Without this the browser keeps the memory until its garbage collector runs.
        self.raw.destroy();
    }
}

/// Whether the CPU plays the best adapter there is, and the largest buffer that a kernel can see; nothing is opened.
pub async fn glance() -> Option<(bool, u64)> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = instance.request_adapter(&Gpu::wish()).await.ok()?;
    let limits = adapter.limits();
    Some((adapter.get_info().device_type == DeviceType::Cpu, limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)))
}

impl Gpu {
    fn wish() -> wgpu::RequestAdapterOptions<'static, 'static> {
        wgpu::RequestAdapterOptions { power_preference: wgpu::PowerPreference::HighPerformance, ..Default::default() }
    }

    /// Opens the best adapter there is; an error says why there is none.
    pub async fn open(options: &Options) -> Result<Self, LmError> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = instance.request_adapter(&Self::wish()).await.map_err(|_| LmError::NoGpu)?;
        let limits = adapter.limits();
        let descriptor = wgpu::DeviceDescriptor { required_limits: limits.clone(), ..Default::default() };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(|_| LmError::NoGpu)?;
        let info = adapter.get_info();
        let is_software = info.device_type == DeviceType::Cpu;
        let failure = Arc::new(Mutex::new(None));
        report_failures(&device, &failure);
        let largest = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        Ok(Self {
            device,
            queue,
            adapter: Adapter { name: info.name, is_software },
            variant: options.variant.unwrap_or(Variant::of(is_software)),
            max_buffer_bytes: largest,
            max_matrix_bytes: options.max_matrix_bytes.unwrap_or(largest).min(largest),
            ledger: Rc::default(),
            pipelines: RefCell::default(),
            failure,
        })
    }

    /// Zeroed memory of `length` 4-byte values, for kernels and copies.
    pub fn buffer(&self, label: &str, length: usize) -> Buffer {
        self.create(label, 4 * length as u64, BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST)
    }

    /// Memory with these values.
    pub fn buffer_with(&self, label: &str, values: &[u32]) -> Buffer {
        let buffer = self.buffer(label, values.len().max(1));
        self.write(&buffer, 0, values);
        buffer
    }

    /// Memory with these values.
    pub fn buffer_with_f32(&self, label: &str, values: &[f32]) -> Buffer {
        self.buffer_with(label, &values.iter().map(|value| value.to_bits()).collect::<Vec<_>>())
    }

    pub(super) fn uniforms(&self, bytes: &[u8]) -> Buffer {
        let buffer = self.create("parameters", bytes.len().max(16) as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST);
        self.queue.write_buffer(&buffer.raw, 0, bytes);
        buffer
    }

    fn create(&self, label: &str, size: u64, usage: BufferUsages) -> Buffer {
        let raw = self.device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false });
        let ledger = self.ledger.clone();
        ledger.bytes.set(ledger.bytes.get() + size);
        ledger.peak_bytes.set(ledger.peak_bytes.get().max(ledger.bytes.get()));
        Buffer { raw, ledger }
    }

    /// Writes values from 4-byte position `at` on.
    pub fn write(&self, buffer: &Buffer, at: usize, values: &[u32]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.queue.write_buffer(&buffer.raw, 4 * at as u64, &bytes);
    }

    /// Copies `length` values from the start of `source` to position `at` of `destination`.
    pub fn copy(&self, source: &Buffer, destination: &Buffer, at: usize, length: usize) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&source.raw, 0, &destination.raw, 4 * at as u64, 4 * length as u64);
        self.queue.submit([encoder.finish()]);
    }

    /// The first `length` values of `buffer`, when all work before is done.
    pub async fn read(&self, buffer: &Buffer, length: usize) -> Result<Vec<u32>, LmError> {
        let size = 4 * length as u64;
        let staging = self.create("readback", size, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&buffer.raw, 0, &staging.raw, 0, size);
        self.queue.submit([encoder.finish()]);
        let (sender, mapped) = oneshot::channel();
        staging.raw.map_async(MapMode::Read, .., move |result| drop(sender.send(result)));
        // Browsers call back by themselves.
        self.device.poll(PollType::wait_indefinitely()).ok();
        let is_mapped = matches!(mapped.await, Ok(Ok(())));
        self.check()?;
        if !is_mapped {
            let reason = "its memory could not be read".to_owned();
            *self.failure.lock().expect("no thread panics with it") = Some(Failure::Lost(reason.clone()));
            return Err(LmError::DeviceLost(reason));
        }
        self.ledger.bytes_read_back.set(self.ledger.bytes_read_back.get() + size);
        let view = staging.raw.get_mapped_range(..).map_err(|error| LmError::Engine(error.to_string()))?;
        Ok(view.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect())
    }

    /// As [`Gpu::read`], for numbers.
    pub async fn read_f32(&self, buffer: &Buffer, length: usize) -> Result<Vec<f32>, LmError> {
        Ok(self.read(buffer, length).await?.into_iter().map(f32::from_bits).collect())
    }

    /// Fails where the device reported something since it was opened.
    pub fn check(&self) -> Result<(), LmError> {
        // Natively, callbacks wait for this.
        self.device.poll(PollType::Poll).ok();
        match self.failure.lock().expect("no thread panics with it").clone() {
            None => Ok(()),
            Some(Failure::OutOfMemory) => Err(LmError::OutOfGpuMemory { bytes: self.ledger.bytes.get() }),
            Some(Failure::Lost(reason)) => Err(LmError::DeviceLost(reason)),
            Some(Failure::Broken(reason)) => Err(LmError::Engine(reason)),
        }
    }

    /// Runs `allocate` and fails where the memory is not there.
    pub async fn allocating<T>(&self, allocate: impl FnOnce() -> T) -> Result<T, LmError> {
        let (bytes, peak_bytes) = (self.ledger.bytes.get(), self.ledger.peak_bytes.get());
        let scope = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let allocated = allocate();
        match scope.pop().await {
            None => self.check().map(|()| allocated),
            Some(_) => {
                self.ledger.peak_bytes.set(peak_bytes);
                Err(LmError::OutOfGpuMemory { bytes })
            }
        }
    }
}

/// Keeps the worst thing that goes wrong outside of an error scope.
fn report_failures(device: &wgpu::Device, failure: &Arc<Mutex<Option<Failure>>>) {
    let keep = |failure: &Arc<Mutex<Option<Failure>>>| {
        let failure = failure.clone();
        move |what| {
            let mut kept = failure.lock().expect("no thread panics with it");
            *kept = kept.take().max(Some(what));
        }
    };
    let (on_error, on_loss) = (keep(failure), keep(failure));
    device.on_uncaptured_error(Arc::new(move |error| {
        on_error(match error {
            wgpu::Error::OutOfMemory { .. } => Failure::OutOfMemory,
            other => Failure::Broken(other.to_string().lines().next().unwrap_or_default().to_owned()),
        });
    }));
    device.set_device_lost_callback(move |_, message| on_loss(Failure::Lost(message)));
}
