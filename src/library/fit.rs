//! Whether a model will run on this device, before it is downloaded.

use super::messages::{Device, Facts};

/// GPU memory beside the weights for what is on its way through the layers.
const WORKING_BYTES: u64 = 64 << 20;
/// What the engine can address where the CPU computes.
const LARGEST_ON_CPU: u64 = 3_500_000_000;
/// What the CPU computes without making anybody wait.
const QUICK_ON_CPU: u64 = 50_000_000;
/// The text that a visitor will want at least, in tokens.
const USUAL_TOKENS: u64 = 2_048;

/// What will become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Fits,
    /// It may be slow, or fail.
    Hardly,
    Never,
}

/// Bytes of memory that a model of `model_bytes` takes with a text of `tokens`.
pub fn memory_needed(model_bytes: u64, facts: &Facts, tokens: u64) -> u64 {
    // Rows are padded when they are repacked for the GPU.
    model_bytes + model_bytes / 16 + facts.bytes_per_token * tokens + WORKING_BYTES
}

/// The verdict, and the sentence that gives the reason.
pub fn verdict(model_bytes: u64, facts: &Facts, device: &Device) -> (Verdict, String) {
    let tokens = facts.context_length.min(USUAL_TOKENS);
    let needed = memory_needed(model_bytes, facts, tokens);
    let needs = format!("It needs about {} of memory with a text of {tokens} tokens", gigabytes(needed));
    let has_gpu = device.gpu.as_ref().is_some_and(|gpu| !gpu.is_software);
    match device.memory {
        _ if !has_gpu && model_bytes > LARGEST_ON_CPU => {
            (Verdict::Never, "It is too large for a browser without a GPU; there, models up to 3.5 GB can be loaded".into())
        }
        Some(memory) if needed > memory => (Verdict::Hardly, format!("{needs}; this device has about {}", gigabytes(memory))),
        _ if !has_gpu && model_bytes > QUICK_ON_CPU => (Verdict::Hardly, format!("{needs}. There is no GPU, so the CPU computes")),
        _ => (Verdict::Fits, needs),
    }
}

/// Whether `bytes` more can be stored, as far as the browser tells.
pub fn can_be_stored(bytes: u64, device: &Device) -> bool {
    device.storage.is_open && device.storage.free.is_none_or(|free| bytes <= free)
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::messages::{GpuFacts, Storage};

    fn device(gpu: Option<bool>, memory: Option<u64>) -> Device {
        Device { gpu: gpu.map(|is_software| GpuFacts { is_software, max_buffer: 1 << 30 }), memory, storage: Storage::default() }
    }

    fn qwen() -> Facts {
        Facts { context_length: 40_960, bytes_per_token: 229_376, ..Facts::default() }
    }

    #[test]
    fn memory_is_weights_and_text_and_some_room() {
        assert_eq!(memory_needed(640_000_000, &qwen(), 2_048), 680_000_000 + 469_762_048 + 67_108_864);
    }

    #[test]
    fn a_gpu_with_enough_memory_takes_it() {
        assert_eq!(verdict(640_000_000, &qwen(), &device(Some(false), Some(8_000_000_000))).0, Verdict::Fits);
        assert_eq!(verdict(640_000_000, &qwen(), &device(Some(false), None)).0, Verdict::Fits);
        assert_eq!(verdict(640_000_000, &qwen(), &device(Some(false), Some(1_000_000_000))).0, Verdict::Hardly);
    }

    #[test]
    fn the_cpu_is_slow_and_has_a_limit() {
        let (verdict_, words) = verdict(640_000_000, &qwen(), &device(None, None));
        assert!(verdict_ == Verdict::Hardly && words.contains("the CPU computes"));
        assert_eq!(verdict(5_000_000_000, &qwen(), &device(Some(true), None)).0, Verdict::Never);
    }

    #[test]
    fn what_is_larger_than_the_free_storage_is_not_stored() {
        let with = |is_open, free| Device { storage: Storage { is_open, free, ..Storage::default() }, ..Device::default() };
        assert!(can_be_stored(5, &with(true, Some(5))) && can_be_stored(5, &with(true, None)));
        assert!(!can_be_stored(6, &with(true, Some(5))) && !can_be_stored(1, &with(false, None)));
    }
}
