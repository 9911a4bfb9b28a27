//! Predicts before the download whether a model will run on this device.

use super::preview::{DeviceFacts, ModelFacts};
use glasscage_message::{Gigabytes, Message, message};

/// GPU memory for activations, in addition to the weights.
const ACTIVATION_BYTES: u64 = 64 << 20;
/// Largest model that the CPU engine can address, in bytes.
const LARGEST_ON_CPU: u64 = 3_500_000_000;
/// Largest model that runs on the CPU without a long wait, in bytes.
const FAST_ON_CPU: u64 = 50_000_000;
/// Expected length of a text, in tokens.
const USUAL_TOKENS: u64 = 2_048;

/// Whether a model runs on this device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFit {
    Fits,
    /// It runs, but slowly.
    Slow,
    /// It may be slow, or fail.
    Marginal,
    Impossible,
}

/// Bytes of memory that a model of `model_bytes` needs for a text of `tokens`. `u64::MAX` if they do not fit, because a hostile file may
/// state any sizes.
pub fn memory_needed(model_bytes: u64, facts: &ModelFacts, tokens: u64) -> u64 {
    // Repacking for the GPU pads the rows.
    let text_bytes = facts.bytes_per_token.saturating_mul(tokens);
    [model_bytes / 16, text_bytes, ACTIVATION_BYTES].into_iter().fold(model_bytes, u64::saturating_add)
}

/// Whether the model runs here, and the reason.
pub fn model_fit(model_bytes: u64, facts: &ModelFacts, device: &DeviceFacts) -> (ModelFit, Message) {
    let tokens = facts.context_length.min(USUAL_TOKENS);
    let needed_bytes = memory_needed(model_bytes, facts, tokens);
    let needed = Gigabytes(needed_bytes);
    let has_gpu = device.gpu.as_ref().is_some_and(|gpu| !gpu.is_software);
    match device.memory {
        _ if !has_gpu && model_bytes > LARGEST_ON_CPU => {
            (ModelFit::Impossible, message!("It is too large for a browser without a GPU; there, models up to 3.5 GB can be loaded"))
        }
        Some(memory) if needed_bytes > memory => {
            let memory = Gigabytes(memory);
            let reason = message!("It needs about {needed} of memory with a text of {tokens} tokens; this device has about {memory}");
            (ModelFit::Marginal, reason)
        }
        _ if !has_gpu && model_bytes > FAST_ON_CPU => {
            let reason = message!("It needs about {needed} of memory with a text of {tokens} tokens. There is no GPU, so the CPU is used");
            // If the browser does not say how much memory there is, it may be too little.
            (if device.memory.is_some() { ModelFit::Slow } else { ModelFit::Marginal }, reason)
        }
        _ => (ModelFit::Fits, message!("It needs about {needed} of memory with a text of {tokens} tokens")),
    }
}

/// Whether `bytes` more can be stored, according to the browser.
pub fn can_be_stored(bytes: u64, device: &DeviceFacts) -> bool {
    device.storage.is_available && device.storage.free.is_none_or(|free| bytes <= free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preview::GpuFacts;
    use crate::stored_models::StorageStatus;

    fn device(gpu: Option<bool>, memory: Option<u64>) -> DeviceFacts {
        DeviceFacts { gpu: gpu.map(|is_software| GpuFacts { is_software, max_buffer: 1 << 30 }), memory, storage: StorageStatus::default() }
    }

    fn qwen() -> ModelFacts {
        ModelFacts { context_length: 40_960, bytes_per_token: 229_376, ..ModelFacts::default() }
    }

    #[test]
    fn memory_is_weights_and_text_and_some_room() {
        assert_eq!(memory_needed(640_000_000, &qwen(), 2_048), 680_000_000 + 469_762_048 + 67_108_864);
    }

    #[test]
    fn memory_of_impossible_sizes_saturates() {
        assert_eq!(memory_needed(u64::MAX, &qwen(), 2_048), u64::MAX);
        assert_eq!(memory_needed(1, &ModelFacts { bytes_per_token: u64::MAX, ..qwen() }, 2), u64::MAX);
    }

    #[test]
    fn a_gpu_with_enough_memory_takes_it() {
        assert_eq!(model_fit(640_000_000, &qwen(), &device(Some(false), Some(8_000_000_000))).0, ModelFit::Fits);
        assert_eq!(model_fit(640_000_000, &qwen(), &device(Some(false), None)).0, ModelFit::Fits);
        assert_eq!(model_fit(640_000_000, &qwen(), &device(Some(false), Some(1_000_000_000))).0, ModelFit::Marginal);
    }

    #[test]
    fn the_cpu_is_slow_and_has_a_limit() {
        let (fit, reason) = model_fit(640_000_000, &qwen(), &device(None, None));
        assert!(fit == ModelFit::Marginal && reason.to_string().contains("the CPU is used"));
        assert_eq!(model_fit(5_000_000_000, &qwen(), &device(Some(true), None)).0, ModelFit::Impossible);
        let on_cpu = |bytes| model_fit(bytes, &qwen(), &device(None, None)).0;
        assert_eq!([FAST_ON_CPU, FAST_ON_CPU + 1].map(on_cpu), [ModelFit::Fits, ModelFit::Marginal]);
        assert_eq!(model_fit(98_000_000, &qwen(), &device(None, Some(8_000_000_000))).0, ModelFit::Slow, "memory is not short");
        assert_eq!([LARGEST_ON_CPU, LARGEST_ON_CPU + 1].map(on_cpu), [ModelFit::Marginal, ModelFit::Impossible]);
        assert_eq!(model_fit(5_000_000_000, &qwen(), &device(Some(false), None)).0, ModelFit::Fits);
    }

    #[test]
    fn fit_reason_names_memory_and_text_length() {
        let needed = memory_needed(640_000_000, &qwen(), USUAL_TOKENS);
        let (fit, reason) = model_fit(640_000_000, &qwen(), &device(Some(false), Some(needed)));
        assert_eq!((fit, &*reason.to_string()), (ModelFit::Fits, "It needs about 1.2 GB of memory with a text of 2048 tokens"));
        let (fit, reason) = model_fit(640_000_000, &qwen(), &device(Some(false), Some(needed - 1)));
        assert!(fit == ModelFit::Marginal && reason.to_string().ends_with("this device has about 1.2 GB"), "{reason}");
        let short = ModelFacts { context_length: 512, ..qwen() };
        assert!(model_fit(640_000_000, &short, &device(None, None)).1.to_string().contains("a text of 512 tokens"));
    }

    #[test]
    fn model_beyond_free_storage_is_not_stored() {
        let with = |is_available, free| DeviceFacts {
            storage: StorageStatus { is_available, free, ..StorageStatus::default() },
            ..DeviceFacts::default()
        };
        assert!(can_be_stored(5, &with(true, Some(5))) && can_be_stored(5, &with(true, None)));
        assert!(!can_be_stored(6, &with(true, Some(5))) && !can_be_stored(1, &with(false, None)));
    }
}
