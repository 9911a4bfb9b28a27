//! The most likely token.

use super::line;
use crate::gpu::device::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;

/// Slices that are searched side by side.
pub const PARTS: usize = 256;

/// The index of the largest of `n` values, the lowest of several, to `chosen[0]` and its bits to `chosen[1]`. Where a value
/// is no finite number, these bits are those of infinity. `best` is `[PARTS, 2]`.
pub fn record<'a>(recording: &mut Recording<'a>, values: &'a Buffer, n: usize, best: &'a Buffer, chosen: &'a Buffer) {
    recording.dispatch(&line("argmax").number("PARTS", PARTS), &[n as u32], &[values, best], [PARTS, 1]);
    recording.dispatch(&Kernel::new("argmax_parts", [1, 1]).number("PARTS", PARTS), &[], &[best, chosen], [1, 1]);
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{gpus, random};

    async fn argmax(values: &[f32]) -> Vec<u32> {
        let mut found = Vec::new();
        for gpu in gpus().await {
            let (values_buffer, best, chosen) =
                (gpu.buffer_with_f32("values", values), gpu.buffer("best", 2 * PARTS), gpu.buffer("chosen", 2));
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &values_buffer, values.len(), &best, &chosen);
            recording.run();
            found.push(gpu.read(&chosen, 2).await.unwrap()[0]);
        }
        found.dedup();
        found
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn the_largest_value_is_found_wherever_it_is() {
        for n in [1, 255, 256, 257, 1000] {
            let values = random(n, n as u64);
            let twin = (0..n).max_by(|&i, &j| values[i].total_cmp(&values[j])).unwrap();
            assert_eq!(argmax(&values).await, [twin as u32]);
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn what_is_no_number_shows() {
        let mut values = random(700, 1);
        values[333] = f32::NAN;
        for gpu in gpus().await {
            let (values, best, chosen) = (gpu.buffer_with_f32("values", &values), gpu.buffer("best", 2 * PARTS), gpu.buffer("chosen", 2));
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &values, 700, &best, &chosen);
            recording.run();
            assert!(!f32::from_bits(gpu.read(&chosen, 2).await.unwrap()[1]).is_finite());
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn of_several_the_first_is_taken() {
        let mut values = vec![-1.0; 700];
        for i in [600, 300, 44] {
            values[i] = 2.0;
        }
        assert_eq!(argmax(&values).await, [44]);
    }
}
