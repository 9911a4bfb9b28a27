//! The most that a GPU can do (the ceilings of a roofline plot), measured: the benchmark says which share of it the engine reaches.

use serde::Serialize;
use web_time::Instant;

use super::buffer::Buffer;
use super::device::Gpu;
use super::kernels::{bandwidth_probe, fma_probe};
use super::recording::Recording;
use crate::lm::LmError;

/// More invocations than any GPU runs at once.
const N: usize = 1 << 18;
const ROUNDS: usize = 64;
/// More than caches hold, in bytes.
const READ_BYTES: u64 = 256 << 20;
/// The shortest measurement, in seconds.
const MIN_SECONDS: f64 = 0.2;
/// The most dispatches in one submission.
const MAX_DISPATCHES: usize = 1 << 14;

/// The ceilings of one device.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ceilings {
    /// Multiplications and additions in f32, in 1e9 per second.
    pub gflops: f64,
    /// Read from memory, in 1e9 bytes per second.
    pub gigabytes_per_second: f64,
}

impl Gpu {
    /// Measures them; takes a second, and up to 256 MiB of its memory.
    pub async fn ceilings(&self) -> Result<Ceilings, LmError> {
        let bytes = self.max_buffer_bytes.min(READ_BYTES);
        let (x, y) = self.try_allocate(|| (self.buffer("x", bytes as usize / 4), self.buffer("y", N))).await?;
        let fused = self.runs_per_second(&y, |recording| fma_probe::record(recording, &y, N, ROUNDS)).await?;
        let read = self.runs_per_second(&y, |recording| bandwidth_probe::record(recording, &x, &y, N, bytes as usize / 16)).await?;
        Ok(Ceilings { gflops: 2e-9 * (N * ROUNDS * fma_probe::NUMBERS) as f64 * fused, gigabytes_per_second: 1e-9 * bytes as f64 * read })
    }

    /// How often per second a dispatch runs, not counting the first one, which compiles.
    async fn runs_per_second<'a>(&'a self, y: &Buffer, record: impl Fn(&mut Recording<'a>)) -> Result<f64, LmError> {
        let mut times = 1;
        loop {
            let mut recording = Recording::new(self);
            (0..times).for_each(|_| record(&mut recording));
            let dispatches = recording.finish();
            let began = Instant::now();
            dispatches.run(self);
            self.read(y, 1).await?;
            let seconds = began.elapsed().as_secs_f64();
            if times > 1 && seconds >= MIN_SECONDS || times >= MAX_DISPATCHES {
                return Ok(times as f64 / seconds);
            }
            times *= 2;
        }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use crate::gpu::testing::gpus;

    #[tokio::test]
    async fn ceilings_are_measured() {
        let ceilings = gpus().await[0].ceilings().await.unwrap();
        assert!(ceilings.gflops > 0.0 && ceilings.gigabytes_per_second > 0.0, "{ceilings:?}");
        println!("{ceilings:?}");
    }
}
