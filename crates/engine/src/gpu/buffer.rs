//! GPU buffers: allocating, writing, copying, reading back.

use std::rc::Rc;

use futures::channel::oneshot;
use wgpu::{BufferUsages, ErrorFilter, MapMode, SubmissionIndex};

use super::device::{Gpu, GpuStats};
use crate::lm::LmError;
use glasscage_message::Message;

/// A GPU buffer. [`GpuStats`] counts its bytes until it is dropped.
pub(crate) struct Buffer {
    pub raw: wgpu::Buffer,
    stats: Rc<GpuStats>,
}

/// A pending read from the GPU.
pub(super) struct Readback {
    index: SubmissionIndex,
    mapped: oneshot::Receiver<bool>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.stats.allocated_bytes.set(self.stats.allocated_bytes.get() - self.raw.size());
        // Without this the browser keeps the memory until its garbage collector runs.
        self.raw.destroy();
    }
}

impl Gpu {
    /// A zeroed buffer of `length` 4-byte values, for kernels and copies.
    pub(crate) fn buffer(&self, label: &str, length: usize) -> Buffer {
        self.create_buffer(label, 4 * length as u64, BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST)
    }

    /// A buffer with these values.
    pub(crate) fn buffer_with(&self, label: &str, values: &[u32]) -> Buffer {
        let buffer = self.buffer(label, values.len().max(1));
        self.write(&buffer, 0, values);
        buffer
    }

    /// A buffer with these values.
    pub(crate) fn buffer_with_f32(&self, label: &str, values: &[f32]) -> Buffer {
        self.buffer_with(label, &values.iter().map(|value| value.to_bits()).collect::<Vec<_>>())
    }

    /// A uniform buffer for kernel parameters.
    pub(super) fn uniform_buffer(&self, bytes: &[u8]) -> Buffer {
        let buffer = self.create_buffer("params", bytes.len().max(16) as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST);
        self.write_bytes(&buffer, 0, bytes);
        buffer
    }

    fn create_buffer(&self, label: &str, size: u64, usage: BufferUsages) -> Buffer {
        // A buffer over the limit would lose the device. `try_allocate` returns an error instead.
        let is_refused = size > self.max_buffer_bytes;
        let size = if is_refused { 16 } else { size };
        self.stats.has_refused.set(self.stats.has_refused.get() || is_refused);
        let raw = self.device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false });
        let stats = self.stats.clone();
        stats.allocated_bytes.set(stats.allocated_bytes.get() + size);
        stats.peak_bytes.set(stats.peak_bytes.get().max(stats.allocated_bytes.get()));
        Buffer { raw, stats }
    }

    /// Writes values, starting at 4-byte position `at`.
    pub(crate) fn write(&self, buffer: &Buffer, at: usize, values: &[u32]) {
        self.write_bytes(buffer, at, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
    }

    /// Writes bytes, starting at 4-byte position `at`.
    pub(super) fn write_bytes(&self, buffer: &Buffer, at: usize, bytes: &[u8]) {
        self.stats.bytes_written.set(self.stats.bytes_written.get() + bytes.len() as u64);
        self.queue.write_buffer(&buffer.raw, 4 * at as u64, bytes);
    }

    /// Copies `length` values from the start of `source` to position `at` of `destination`.
    pub(crate) fn copy(&self, source: &Buffer, destination: &Buffer, at: usize, length: usize) {
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(&source.raw, 0, &destination.raw, 4 * at as u64, 4 * length as u64);
        self.submit(encoder);
    }

    /// Reads the first `length` values of `buffer`, after all work that was submitted earlier.
    pub(crate) async fn read(&self, buffer: &Buffer, length: usize) -> Result<Vec<u32>, LmError> {
        let staging = self.staging_buffer(length);
        let readback = self.begin_read(self.encoder(), buffer, &staging);
        let words = self.finish_read(readback, &staging).await?;
        self.all_ended();
        Ok(words)
    }

    /// A staging buffer for reading back `length` values.
    pub(super) fn staging_buffer(&self, length: usize) -> Buffer {
        self.create_buffer("readback", 4 * length as u64, BufferUsages::MAP_READ | BufferUsages::COPY_DST)
    }

    /// Submits the commands in `encoder`, followed by a copy of `buffer` to `staging`.
    pub(super) fn begin_read(&self, mut encoder: wgpu::CommandEncoder, buffer: &Buffer, staging: &Buffer) -> Readback {
        encoder.copy_buffer_to_buffer(&buffer.raw, 0, &staging.raw, 0, staging.raw.size());
        let index = self.submit(encoder);
        Readback { index, mapped: begin_mapping(&staging.raw) }
    }

    /// Waits for a pending read. Afterward the staging buffer can be reused.
    pub(super) async fn finish_read(&self, Readback { index, mapped }: Readback, staging: &Buffer) -> Result<Vec<u32>, LmError> {
        if self.await_callback(index, mapped).await? != Some(true) {
            return Err(self.lose("its memory could not be read"));
        }
        self.stats.bytes_read_back.set(self.stats.bytes_read_back.get() + staging.raw.size());
        self.stats.readbacks.set(self.stats.readbacks.get() + 1);
        let view = staging.raw.get_mapped_range(..).map_err(|error| LmError::Engine(Message::verbatim(&error)))?;
        let words = view.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect();
        drop(view);
        staging.raw.unmap();
        Ok(words)
    }

    /// Like [`Gpu::read`], for f32 values.
    pub(crate) async fn read_f32(&self, buffer: &Buffer, length: usize) -> Result<Vec<f32>, LmError> {
        Ok(self.read(buffer, length).await?.into_iter().map(f32::from_bits).collect())
    }

    /// Runs `allocate`. Returns an error if GPU memory runs out.
    pub(crate) async fn try_allocate<T>(&self, allocate: impl FnOnce() -> T) -> Result<T, LmError> {
        let (bytes, peak_bytes) = (self.stats.allocated_bytes.get(), self.stats.peak_bytes.get());
        self.stats.has_refused.set(false);
        let scope = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let allocated = allocate();
        match scope.pop().await {
            None if !self.stats.has_refused.take() => self.check().map(|()| allocated),
            _ => {
                self.stats.peak_bytes.set(peak_bytes);
                Err(LmError::OutOfGpuMemory { bytes })
            }
        }
    }
}

/// Maps a staging buffer for reading once its commands have ended. Receives whether that succeeded.
pub(super) fn begin_mapping(staging: &wgpu::Buffer) -> oneshot::Receiver<bool> {
    let (sender, mapped) = oneshot::channel();
    staging.map_async(MapMode::Read, .., move |result| {
        sender.send(result.is_ok()).ok();
    });
    mapped
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::gpu::testing::gpus;

    #[tokio::test]
    async fn buffer_beyond_limit_is_an_error_and_device_stays() {
        for gpu in gpus().await {
            let length = gpu.max_buffer_bytes as usize / 4 + 1;
            let refused = gpu.try_allocate(|| gpu.buffer("large", length)).await;
            assert!(matches!(refused, Err(LmError::OutOfGpuMemory { .. })));
            let buffer = gpu.try_allocate(|| gpu.buffer_with("small", &[7])).await.unwrap();
            assert_eq!(gpu.read(&buffer, 1).await.unwrap(), [7]);
        }
    }
}
