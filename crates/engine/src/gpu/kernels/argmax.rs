//! Finds the most likely token.

use super::one_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;

/// Number of slices that are searched in parallel.
pub const N_SLICES: usize = 256;

wgsl_struct! {
    struct Params {
        n: usize,
    }
}

/// Writes the index of the largest of `n` values to `chosen[0]`, the lowest index of equal values, and the bits of the value to
/// `chosen[1]`. If a value is infinite or NaN, these bits are infinity. `slices` is `[N_SLICES, 2]`.
pub fn record<'a>(recording: &mut Recording<'a>, values: &'a Buffer, n: usize, slices: &'a Buffer, chosen: &'a Buffer) {
    let [find, merge] = kernels();
    recording.dispatch(find, Params { n }, &[values, slices], [N_SLICES, 1]);
    recording.dispatch_without_params(merge, &[slices, chosen], [1, 1]);
}

/// The kernel that searches slices, and the kernel that compares their results.
pub fn kernels() -> [Kernel; 2] {
    let find = one_dimensional("argmax").with_params(Params::WGSL);
    let merge = Kernel::new("argmax_merge", [1, 1]);
    [find, merge].map(|kernel| kernel.with_u32("N_SLICES", N_SLICES))
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{gpus_and_interpreters, random};

    async fn argmax(values: &[f32]) -> Vec<u32> {
        let mut found = Vec::new();
        for gpu in gpus_and_interpreters().await {
            let (values_buffer, slices, chosen) =
                (gpu.buffer_with_f32("values", values), gpu.buffer("slices", 2 * N_SLICES), gpu.buffer("chosen", 2));
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &values_buffer, values.len(), &slices, &chosen);
            recording.run();
            found.push(gpu.read(&chosen, 2).await.unwrap()[0]);
        }
        found.dedup();
        found
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn largest_value_is_found_at_any_index() {
        for n in [1, 255, 256, 257, 1000] {
            let values = random(n, n as u64);
            let reference = (0..n).max_by(|&i, &j| values[i].total_cmp(&values[j])).unwrap();
            assert_eq!(argmax(&values).await, [reference as u32]);
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn non_finite_value_is_reported() {
        let mut values = random(700, 1);
        values[333] = f32::NAN;
        for gpu in gpus_and_interpreters().await {
            let (values, slices, chosen) =
                (gpu.buffer_with_f32("values", &values), gpu.buffer("slices", 2 * N_SLICES), gpu.buffer("chosen", 2));
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &values, 700, &slices, &chosen);
            recording.run();
            assert!(!f32::from_bits(gpu.read(&chosen, 2).await.unwrap()[1]).is_finite());
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn first_of_equal_values_is_chosen() {
        let mut values = vec![-1.0; 700];
        for i in [600, 300, 44] {
            values[i] = 2.0;
        }
        assert_eq!(argmax(&values).await, [44]);
    }
}
