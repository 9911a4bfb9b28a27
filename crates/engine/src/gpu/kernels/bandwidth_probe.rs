//! Measures how many bytes per second a GPU can read. The kernel does little except memory reads.

use super::{LINE, one_dimensional};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;

wgsl_struct! {
    struct Params {
        n: usize,
        length: usize,
    }
}

/// y[i] = the sum of x[i], x[i + n], x[i + 2 n], ..; x `[length, 4]`, y `[n]`. Reads `16 length` bytes.
pub fn record<'a>(recording: &mut Recording<'a>, x: &'a Buffer, y: &'a Buffer, n: usize, length: usize) {
    debug_assert!(n.div_ceil(LINE) <= 65535, "more workgroups than every device takes");
    recording.dispatch(kernel(), Params { n, length }, &[x, y], [n, 1]);
}

pub fn kernel() -> Kernel {
    one_dimensional("bandwidth_probe").with_params(Params::WGSL)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn sums_match_reference() {
        for gpu in gpus_and_interpreters().await {
            for (n, length) in [(1, 1), (63, 64), (64, 63), (65, 200), (199, 7)] {
                let values = random(4 * length, 9);
                let mut expected = vec![0.0; n];
                values.chunks(4).enumerate().for_each(|(i, row)| expected[i % n] += row.iter().sum::<f32>());
                let x = gpu.buffer_with_f32("x", &values);
                let y = gpu.buffer_with_f32("y", &vec![SENTINEL; n + 1]);
                let mut recording = Recording::new(&gpu);
                record(&mut recording, &x, &y, n, length);
                recording.run();
                let mut got = gpu.read_f32(&y, n + 1).await.unwrap();
                assert_eq!(got.pop(), Some(SENTINEL));
                assert_close("bandwidth_probe", &got, &expected, 1e-5);
            }
        }
    }
}
