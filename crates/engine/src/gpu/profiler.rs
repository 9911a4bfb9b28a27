//! How long each kernel runs: see [`super::timestamps`]. Natively only.

use std::collections::BTreeMap;

use futures::channel::oneshot::Receiver;

use super::buffer::begin_mapping;
use super::device::Gpu;
use super::kernel::Kernel;
use super::timestamps::{Timed, Work};
use crate::lm::LmError;
use glasscage_message::Message;
use glasscage_model::quant::QUANTS;

/// Constants of a kernel that do not distinguish it in a profile.
const COMMON_CONSTANTS: [&str; 2] = ["WIDTH", "INTERLEAVED_ROWS"];

/// Time that kernels took on the GPU.
#[derive(Debug, Default, PartialEq)]
pub struct Profile {
    /// The slowest first.
    pub kernels: Vec<KernelTime>,
    /// Seconds between consecutive dispatches of the same submission, in which no kernel runs.
    pub seconds_between: f64,
}

/// All dispatches of one kernel. A kernel for decode steps is listed once per matrix size.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTime {
    /// For example `matmul_tiles.Q4_K.ROWS=8u.TOKENS=4u`.
    pub kernel: String,
    pub dispatches: usize,
    pub seconds: f64,
    /// Floating-point operations; `None` except for products with weights.
    pub operations: Option<f64>,
    /// Bytes of weights that were read; `None` except for products of decode steps, which read each weight once.
    pub weight_bytes: Option<f64>,
}

impl Gpu {
    /// Returns the times of all dispatches since the last call. Empty if the device was not opened to take timestamps.
    pub async fn take_profile(&self) -> Result<Profile, LmError> {
        let pending = self.timestamps.as_ref().map(|timestamps| timestamps.take()).unwrap_or_default();
        let mapped: Vec<Receiver<bool>> = pending.iter().map(|timed| begin_mapping(&timed.staging)).collect();
        let index = self.submit(self.encoder());
        let mut parts = Vec::new();
        for (Timed { work, staging }, mapped) in pending.into_iter().zip(mapped) {
            if self.await_callback(index.clone(), mapped).await? != Some(true) {
                return Err(self.lose("its timestamps could not be read"));
            }
            let view = staging.get_mapped_range(..).map_err(|error| LmError::Engine(Message::verbatim(&error)))?;
            let ticks: Vec<u64> = view.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes"))).collect();
            parts.push(work.into_iter().zip(ticks.chunks_exact(2).map(|pair| [pair[0], pair[1]])).collect::<Vec<_>>());
        }
        let named = parts.iter().map(|part| part.iter().map(|(work, ticks)| (work.named(), *ticks)).collect::<Vec<_>>());
        Ok(Profile::new(&named.collect::<Vec<_>>(), 1e-9 * f64::from(self.queue.get_timestamp_period())))
    }
}

impl Work {
    /// The dispatch as a row of a profile, without its time.
    fn named(&self) -> KernelTime {
        let kernel = &self.pipeline.kernel;
        let operations = kernel.name.starts_with("mat").then_some(self.operations);
        let weight_bytes = operations.filter(|_| kernel.name.starts_with("matvec")).map(|operations| operations / 2.0 * bytes_of(kernel));
        KernelTime { kernel: name_of(kernel), dispatches: 1, seconds: 0.0, operations, weight_bytes }
    }
}

/// Bytes of a weight in the file.
fn bytes_of(kernel: &Kernel) -> f64 {
    let quant = QUANTS.iter().find(|quant| kernel.format.is_some_and(|format| format.name == quant.name));
    quant.map_or(0.0, |quant| quant.block_bytes as f64 / quant.block as f64)
}

/// Kernel name, tensor type, and the constants that are set.
fn name_of(kernel: &Kernel) -> String {
    let is_shown = |(name, value): &&(&str, String)| value != "false" && !COMMON_CONSTANTS.contains(name);
    let constants = kernel.constants.iter().filter(is_shown).map(|(name, value)| format!("{name}={value}"));
    let format = kernel.format.map(|format| format.name.to_owned());
    [kernel.name.to_owned()].into_iter().chain(format).chain(constants).collect::<Vec<_>>().join(".")
}

impl Profile {
    /// Adds up dispatches by kernel. Each part is a list of dispatches in their order, with timestamps in ticks of `tick` seconds.
    fn new(parts: &[Vec<(KernelTime, [u64; 2])>], tick: f64) -> Self {
        let seconds = |from: u64, to: u64| tick * to.saturating_sub(from) as f64;
        let mut kernels = BTreeMap::new();
        for (row, [begin, end]) in parts.iter().flatten() {
            let size = row.weight_bytes.map(f64::to_bits);
            let sum = kernels.entry((&row.kernel, size)).or_insert_with(|| KernelTime { dispatches: 0, ..row.clone() });
            if sum.dispatches > 0 {
                sum.operations = sum.operations.zip(row.operations).map(|(sum, more)| sum + more);
                sum.weight_bytes = sum.weight_bytes.zip(row.weight_bytes).map(|(sum, more)| sum + more);
            }
            sum.dispatches += 1;
            sum.seconds += seconds(*begin, *end);
        }
        let mut kernels: Vec<KernelTime> = kernels.into_values().collect();
        kernels.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let gaps = parts.iter().flat_map(|part| part.windows(2)).map(|pair| seconds(pair[0].1[1], pair[1].1[0]));
        Self { kernels, seconds_between: gaps.sum() }
    }

    /// Seconds in which a kernel runs.
    pub fn seconds(&self) -> f64 {
        self.kernels.iter().map(|kernel| kernel.seconds).sum()
    }
}

#[cfg(test)]
mod tests;
