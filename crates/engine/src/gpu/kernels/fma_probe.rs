//! Measures how many operations per second a GPU can compute, with fused multiply-adds and no memory reads.

use super::{LINE, one_dimensional};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;

/// Number of values that each invocation updates.
pub const NUMBERS: usize = 32;
/// Less than 1, so that numbers stay small.
const S: f32 = 0.5;

wgsl_struct! {
    struct Params {
        n: usize,
        rounds: usize,
        /// The factor.
        s: f32,
    }
}

/// y[i] = the sum of 32 numbers after `rounds` rounds of a = a s + i / n; y `[n]`. `2 n rounds NUMBERS` operations.
pub fn record<'a>(recording: &mut Recording<'a>, y: &'a Buffer, n: usize, rounds: usize) {
    debug_assert!(n.div_ceil(LINE) <= 65535, "more workgroups than every device takes");
    recording.dispatch(kernel(), Params { n, rounds, s: S }, &[y], [n, 1]);
}

pub fn kernel() -> Kernel {
    one_dimensional("fma_probe").with_params(Params::WGSL)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus_and_interpreters};

    fn reference(i: usize, n: usize, rounds: usize) -> f32 {
        let round = |a: f32| a * S + i as f32 / n as f32;
        (0..NUMBERS).map(|first| (0..rounds).fold(first as f32, |a, _| round(a))).sum()
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn rounds_match_reference() {
        for gpu in gpus_and_interpreters().await {
            for (n, rounds) in [(1, 0), (63, 1), (64, 2), (65, 3), (199, 7)] {
                let y = gpu.buffer_with_f32("y", &vec![SENTINEL; n + 1]);
                let mut recording = Recording::new(&gpu);
                record(&mut recording, &y, n, rounds);
                recording.run();
                let mut got = gpu.read_f32(&y, n + 1).await.unwrap();
                assert_eq!(got.pop(), Some(SENTINEL));
                assert_close("fma_probe", &got, &(0..n).map(|i| reference(i, n, rounds)).collect::<Vec<_>>(), 1e-5);
            }
        }
    }
}
