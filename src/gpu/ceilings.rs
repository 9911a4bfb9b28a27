//! What a GPU can do at most, measured: the benchmark says which share of it the engine reaches.

use serde::Serialize;
use web_time::Instant;

use super::device::{Buffer, Gpu};
use super::kernels::{add_up, fma};
use super::recording::Recording;
use crate::lm::LmError;

/// Invocations: more than any GPU runs at once.
const N: usize = 1 << 18;
const ROUNDS: usize = 64;
/// More than caches hold, in bytes.
const READ_BYTES: u64 = 256 << 20;
/// A measurement takes so long at least, in seconds.
const SECONDS: f64 = 0.2;
/// Dispatches in one submission, at most.
const DISPATCHES: usize = 1 << 14;

/// Of one device.
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
        let (x, y) = self.allocating(|| (self.buffer("x", bytes as usize / 4), self.buffer("y", N))).await?;
        let fused = self.each_second(&y, |recording| fma::record(recording, &y, N, ROUNDS)).await?;
        let read = self.each_second(&y, |recording| add_up::record(recording, &x, &y, N, bytes as usize / 16)).await?;
        Ok(Ceilings { gflops: 2e-9 * (N * ROUNDS * fma::NUMBERS) as f64 * fused, gigabytes_per_second: 1e-9 * bytes as f64 * read })
    }

    /// How often a second a dispatch runs, the first one aside, which compiles.
    async fn each_second<'a>(&'a self, y: &Buffer, record: impl Fn(&mut Recording<'a>)) -> Result<f64, LmError> {
        let mut times = 1;
        loop {
            let mut recording = Recording::new(self);
            (0..times).for_each(|_| record(&mut recording));
            let program = recording.finish();
            let began = Instant::now();
            program.run(self);
            self.read(y, 1).await?;
            let seconds = began.elapsed().as_secs_f64();
            if times > 1 && seconds >= SECONDS || times >= DISPATCHES {
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
