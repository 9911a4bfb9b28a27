//! Measures the peak throughput of a GPU (the ceilings of a roofline plot). The benchmark reports which share of it the engine reaches.

use serde::Serialize;

use super::buffer::Buffer;
use super::device::Gpu;
use super::kernels::{bandwidth_probe, fma_probe};
use super::recording::Recording;
use crate::lm::LmError;

/// More invocations than any GPU runs at the same time.
const N: usize = 1 << 18;
const ROUNDS: usize = 64;
/// Bytes to read: more than caches hold.
const READ_BYTES: u64 = 256 << 20;
/// Shortest accepted measurement, in seconds.
const MIN_SECONDS: f64 = 0.2;
/// Maximum number of dispatches in one submission.
const MAX_DISPATCHES: usize = 1 << 14;

/// Peak throughput of one device.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PeakThroughput {
    /// f32 operations in 1e9 per second. A multiplication and an addition count as two.
    pub gflops: f64,
    /// Bytes read from memory, in 1e9 per second.
    pub gigabytes_per_second: f64,
}

/// A dispatch that does little except what is measured.
#[derive(Clone, Copy)]
enum Probe<'a> {
    /// `2 N ROUNDS NUMBERS` operations.
    Fma,
    /// Reads the whole buffer.
    Read(&'a Buffer),
}

impl PeakThroughput {
    /// Computes the peak throughput from runs per second of [`Probe::Fma`] and of [`Probe::Read`], which reads `bytes` bytes.
    fn from_rates(fma_per_second: f64, reads_per_second: f64, bytes: usize) -> Self {
        let operations = 2 * N * ROUNDS * fma_probe::NUMBERS;
        Self { gflops: 1e-9 * operations as f64 * fma_per_second, gigabytes_per_second: 1e-9 * bytes as f64 * reads_per_second }
    }
}

/// Number of repetitions for the next measurement, after `times` repetitions took `seconds`. `None` if the last measurement counts. A
/// single run never counts, because it includes compilation.
fn next_times(times: usize, seconds: f64) -> Option<usize> {
    let is_enough = times > 1 && seconds >= MIN_SECONDS || times >= MAX_DISPATCHES;
    (!is_enough).then_some(2 * times)
}

impl<'a> Probe<'a> {
    /// Records the probe, which writes `N` sums to `y`.
    fn record(self, recording: &mut Recording<'a>, y: &'a Buffer) {
        match self {
            Self::Fma => fma_probe::record(recording, y, N, ROUNDS),
            Self::Read(x) => bandwidth_probe::record(recording, x, y, N, x.raw.size() as usize / 16),
        }
    }
}

impl Gpu {
    /// Measures the peak throughput. Takes about a second and up to 256 MiB of GPU memory.
    pub async fn peak_throughput(&self) -> Result<PeakThroughput, LmError> {
        let bytes = self.max_buffer_bytes.min(READ_BYTES) as usize;
        let (x, y) = self.try_allocate(|| (self.buffer("x", bytes / 4), self.buffer("y", N))).await?;
        let fma_per_second = self.runs_per_second(Probe::Fma, &y).await?;
        let reads_per_second = self.runs_per_second(Probe::Read(&x), &y).await?;
        Ok(PeakThroughput::from_rates(fma_per_second, reads_per_second, bytes))
    }

    /// Runs of a probe per second, without the first run, which includes compilation.
    async fn runs_per_second(&self, probe: Probe<'_>, y: &Buffer) -> Result<f64, LmError> {
        let mut times = 1;
        loop {
            let seconds = self.seconds_of(probe, y, times).await?;
            match next_times(times, seconds) {
                Some(next) => times = next,
                None => return Ok(times as f64 / seconds),
            }
        }
    }

    /// Seconds that `times` runs of a probe take.
    async fn seconds_of(&self, probe: Probe<'_>, y: &Buffer, times: usize) -> Result<f64, LmError> {
        let mut recording = Recording::new(self);
        (0..times).for_each(|_| probe.record(&mut recording, y));
        recording.finish().seconds(self, y).await
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::gpu::testing::{assert_close, gpus, random};

    #[test]
    fn rates_become_operations_and_bytes_per_second() {
        // 2^18 invocations, 64 rounds, 32 numbers, a multiplication and an addition each: 2^30 operations.
        let peak = PeakThroughput::from_rates(500.0, 40.0, 1 << 28);
        assert_eq!((peak.gflops, peak.gigabytes_per_second), (1e-9 * 500.0 * 1_073_741_824.0, 1e-9 * 40.0 * 268_435_456.0));
    }

    #[test]
    fn probe_repeats_until_measurement_is_long_enough() {
        assert_eq!(next_times(1, 9.0), Some(2), "the first run includes compilation");
        assert_eq!(next_times(2, 0.19), Some(4));
        assert_eq!(next_times(4, 0.2), None);
        assert_eq!(next_times(MAX_DISPATCHES / 2, 0.0), Some(MAX_DISPATCHES));
        assert_eq!(next_times(MAX_DISPATCHES, 0.0), None);
    }

    #[tokio::test]
    async fn probe_repeats_and_processes_all_values() {
        for gpu in gpus().await {
            let values = random(4 * (N + 3), 5);
            let (x, y) = (gpu.buffer_with_f32("x", &values), gpu.buffer("y", N));
            let before = gpu.stats.dispatches.get();
            gpu.seconds_of(Probe::Read(&x), &y, 3).await.unwrap();
            assert_eq!(gpu.stats.dispatches.get() - before, 3);
            let mut sums = vec![0.0; N];
            values.chunks(4).enumerate().for_each(|(i, row)| sums[i % N] += row.iter().sum::<f32>());
            assert_close("every number is read", &gpu.read_f32(&y, N).await.unwrap(), &sums, 1e-5);

            gpu.seconds_of(Probe::Fma, &y, 2).await.unwrap();
            assert_eq!(gpu.stats.dispatches.get() - before, 5);
            // a = a / 2 + c converges to 2 c. After 64 rounds, an f32 no longer depends on the initial value.
            let limits: Vec<f32> = (0..N).map(|i| (2 * fma_probe::NUMBERS * i) as f32 / N as f32).collect();
            assert_close("all rounds are done", &gpu.read_f32(&y, N).await.unwrap(), &limits, 1e-5);
        }
    }
}
