//! How many workers score passes, and when helpers are worth their start.

/// Maximum number of workers, including the engine's own.
const MAX_WORKERS: u64 = 4;
/// Larger models are not loaded a second time.
const MAX_BYTES: u64 = 200_000_000;
/// Memory of a worker in addition to its weights: program, caches, activations.
const WORKING_BYTES: u64 = 150_000_000;
/// All workers together use at most the device's memory divided by this number.
const MEMORY_DIVISOR: u64 = 4;
/// Assumed memory if the browser does not report it. Only Chrome does.
const USUAL_MEMORY: u64 = 4_000_000_000;
/// Work that is worth the start of helpers, in tokens times bytes of weights: about three seconds of one core.
const WORTH_HELPERS: u64 = 40_000_000_000;

/// Number of workers that score passes of a model, including the engine's own. One core stays free for the page and other programs. With
/// two cores, the second worker still pays, because the page is idle while the engine measures.
pub fn n_workers(cores: u64, memory: Option<u64>, model_bytes: u64) -> usize {
    if model_bytes > MAX_BYTES {
        return 1;
    }
    let by_cores = if cores == 2 { 2 } else { cores.saturating_sub(1) };
    let by_memory = memory.unwrap_or(USUAL_MEMORY) / MEMORY_DIVISOR / (model_bytes + WORKING_BYTES);
    by_cores.min(by_memory).clamp(1, MAX_WORKERS) as usize
}

/// Whether the work since the model was loaded, `tokens` read, is worth the start of helpers.
pub fn is_worth_helpers(tokens: u64, model_bytes: u64) -> bool {
    tokens.saturating_mul(model_bytes) >= WORTH_HELPERS
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABYTE: u64 = 1_000_000_000;
    /// Bytes of SmolLM2-135M-Instruct.
    const SMOLLM2: u64 = 98_000_000;

    #[test]
    fn one_core_stays_free_except_on_two() {
        for (cores, expected) in [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (5, 4), (64, 4)] {
            assert_eq!(n_workers(cores, Some(8 * GIGABYTE), SMOLLM2), expected, "{cores} cores");
        }
    }

    #[test]
    fn short_memory_and_large_models_get_fewer_workers() {
        for (memory, model_bytes, expected) in [
            (Some(8 * GIGABYTE), 200_000_000, 4),
            (Some(4 * GIGABYTE), 200_000_000, 2),
            (Some(2 * GIGABYTE), 200_000_000, 1),
            (Some(2 * GIGABYTE), SMOLLM2, 2),
            (Some(GIGABYTE), SMOLLM2, 1),
            (Some(0), SMOLLM2, 1),
            (None, SMOLLM2, 4),
            (None, 200_000_000, 2),
            (Some(64 * GIGABYTE), 200_000_001, 1),
        ] {
            assert_eq!(n_workers(8, memory, model_bytes), expected, "{memory:?} bytes, model of {model_bytes}");
        }
    }

    #[test]
    fn helpers_start_for_long_work() {
        assert!(is_worth_helpers(780, SMOLLM2), "the first passes over a text of 130 tokens");
        assert!(!is_worth_helpers(780, 14_800_000) && is_worth_helpers(3445, 14_800_000), "the built-in model: only all passes by pairs");
        assert!(!is_worth_helpers(0, 0) && is_worth_helpers(u64::MAX, u64::MAX));
    }
}
