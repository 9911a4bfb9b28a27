//! The GPU: adapter, device, and the errors that it reports.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use web_time::Instant;
use wgpu::{DeviceType, PollType};

use super::adapter_name::adapter_name;
use super::kernel::{Kernel, Pipeline};
use super::pacing::Pacing;
use super::shapes::{ShapeTime, Shapes};
use super::variant::Variant;
use super::wait::Submission;
use crate::lm::LmError;
use glasscage_message::Message;

/// How to use a GPU. The default suits its adapter.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub variant: Option<&'static Variant>,
    /// Largest buffer for a matrix, in bytes. Tests set it to split matrices.
    pub max_matrix_bytes: Option<u64>,
    /// Fixed number of operations per submission, regardless of time. For tests that count submissions and dispatches, or need many.
    pub operations_per_submission: Option<f64>,
    /// Whether to time every dispatch: see [`super::profiler`].
    #[cfg(not(target_arch = "wasm32"))]
    pub takes_timestamps: bool,
}

/// An open device and its state.
pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub adapter: Adapter,
    pub variant: &'static Variant,
    /// See [`Gpu::choose_shapes`].
    pub shapes: Cell<Shapes>,
    /// Times of all shapes that [`Gpu::choose_shapes`] measured. Empty if it used remembered shapes.
    pub shape_times: RefCell<Vec<ShapeTime>>,
    /// Largest storage buffer that a kernel can bind, in bytes.
    pub max_buffer_bytes: u64,
    /// Largest buffer for a matrix, in bytes.
    pub max_matrix_bytes: u64,
    pub stats: Rc<GpuStats>,
    /// Stop check, called between submissions. If it returns true, work ends with [`LmError::Stopped`].
    pub is_stopped: RefCell<Rc<dyn Fn() -> bool>>,
    pub(super) pacing: RefCell<Pacing<Submission>>,
    pub(super) opened: Instant,
    pub(super) pipelines: RefCell<HashMap<Kernel, Rc<Pipeline>>>,
    #[cfg(test)]
    pub(crate) wrong_kernel: RefCell<Option<super::kernel::WrongKernel>>,
    failure: Arc<Mutex<Option<Failure>>>,
    /// Set if the device times every dispatch.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) timestamps: Option<super::timestamps::Timestamps>,
    /// If set, this interpreter runs the kernels instead of the GPU. Buffers stay on the GPU.
    #[cfg(all(test, not(target_arch = "wasm32")))]
    pub(super) interpreter: Option<kernel_interpreter::Arithmetic>,
}

/// Properties of the hardware.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// Empty if unknown.
    pub name: String,
    /// Whether it runs on the CPU.
    pub is_software: bool,
}

/// Why a device stopped working, in the words of its driver. A later variant may cause an earlier one, so the last variant is the cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    Broken(String),
    Lost(String),
    OutOfMemory,
    /// With the result of a repeated self-test.
    Faulty(Message),
}

/// Counters of the work and memory of a device.
#[derive(Default)]
pub struct GpuStats {
    pub dispatches: Cell<usize>,
    pub submissions: Cell<usize>,
    /// Bytes copied from main memory to the GPU.
    pub bytes_written: Cell<u64>,
    /// Bytes copied from the GPU to main memory.
    pub bytes_read_back: Cell<u64>,
    /// Number of such copies.
    pub readbacks: Cell<usize>,
    /// Bytes of the buffers that exist now.
    pub allocated_bytes: Cell<u64>,
    /// Maximum of `allocated_bytes` so far.
    pub peak_bytes: Cell<u64>,
    /// Whether a buffer larger than [`Gpu::max_buffer_bytes`] was requested.
    pub has_refused: Cell<bool>,
}

pub(super) async fn request_adapter() -> Option<wgpu::Adapter> {
    let adapter_options = wgpu::RequestAdapterOptions { power_preference: wgpu::PowerPreference::HighPerformance, ..Default::default() };
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle()).request_adapter(&adapter_options).await.ok()
}

fn max_buffer_bytes(limits: &wgpu::Limits) -> u64 {
    limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
}

impl Gpu {
    /// Opens the best available adapter. Returns an error if there is none.
    pub async fn open(options: &Options) -> Result<Self, LmError> {
        let adapter = request_adapter().await.ok_or(LmError::NoGpu)?;
        let limits = adapter.limits();
        let descriptor =
            wgpu::DeviceDescriptor { required_limits: limits.clone(), required_features: features(options), ..Default::default() };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(|_| LmError::NoGpu)?;
        let info = adapter.get_info();
        let is_software = info.device_type == DeviceType::Cpu;
        let failure = Arc::new(Mutex::new(None));
        record_failures(&device, &failure);
        let max_buffer_bytes = max_buffer_bytes(&limits);
        Ok(Self {
            device,
            queue,
            adapter: Adapter { name: adapter_name(&info).await, is_software },
            variant: options.variant.unwrap_or(Variant::of(is_software)),
            shapes: Cell::default(),
            shape_times: RefCell::default(),
            max_buffer_bytes,
            max_matrix_bytes: options.max_matrix_bytes.unwrap_or(max_buffer_bytes).min(max_buffer_bytes),
            stats: Rc::default(),
            is_stopped: RefCell::new(Rc::new(|| false)),
            pacing: RefCell::new(Pacing::new(options.operations_per_submission)),
            opened: Instant::now(),
            pipelines: RefCell::default(),
            #[cfg(test)]
            wrong_kernel: RefCell::default(),
            failure,
            #[cfg(not(target_arch = "wasm32"))]
            timestamps: options.takes_timestamps.then(Default::default),
            #[cfg(all(test, not(target_arch = "wasm32")))]
            interpreter: None,
        })
    }

    /// Seconds since the device was opened.
    pub(super) fn now(&self) -> f64 {
        self.opened.elapsed().as_secs_f64()
    }

    /// Marks the device as lost.
    pub(super) fn lose(&self, reason: &str) -> LmError {
        *self.failure.lock().expect("no thread panics with it") = Some(Failure::Lost(reason.to_owned()));
        LmError::DeviceLost(reason.to_owned())
    }

    /// Marks the device as one that computes incorrectly.
    pub(super) fn mark_faulty(&self, failure: Message) -> LmError {
        *self.failure.lock().expect("no thread panics with it") = Some(Failure::Faulty(failure.clone()));
        LmError::FaultyGpu(failure)
    }

    /// Returns an error if the device has reported one since it was opened.
    pub fn check(&self) -> Result<(), LmError> {
        // Natively, callbacks run during this call.
        self.device.poll(PollType::Poll).ok();
        match self.failure.lock().expect("no thread panics with it").clone() {
            None => Ok(()),
            Some(Failure::OutOfMemory) => Err(LmError::OutOfGpuMemory { bytes: self.stats.allocated_bytes.get() }),
            Some(Failure::Faulty(failure)) => Err(LmError::FaultyGpu(failure)),
            Some(Failure::Lost(reason)) => Err(LmError::DeviceLost(reason)),
            Some(Failure::Broken(reason)) => Err(LmError::Engine(Message::verbatim(&reason))),
        }
    }
}

#[cfg(target_arch = "wasm32")]
fn features(_: &Options) -> wgpu::Features {
    wgpu::Features::empty()
}

#[cfg(not(target_arch = "wasm32"))]
fn features(options: &Options) -> wgpu::Features {
    if options.takes_timestamps { wgpu::Features::TIMESTAMP_QUERY } else { wgpu::Features::empty() }
}

/// Records the cause of failures that occur outside of error scopes.
fn record_failures(device: &wgpu::Device, failure: &Arc<Mutex<Option<Failure>>>) {
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
