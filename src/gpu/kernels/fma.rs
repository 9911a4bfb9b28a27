//! Multiplications and additions without memory: how many a GPU can do at most.

use super::{LINE, line};
use crate::gpu::device::Buffer;
use crate::gpu::recording::Recording;

/// Numbers that each invocation works on.
pub const NUMBERS: usize = 32;
/// Less than 1, so that numbers stay small.
const S: f32 = 0.5;

/// `rounds` rounds of a = a s + i / n on 32 numbers for each i, added up in y `[n]`.
pub fn record<'a>(recording: &mut Recording<'a>, y: &'a Buffer, n: usize, rounds: usize) {
    debug_assert!(n.div_ceil(LINE) <= 65535, "more workgroups than every device takes");
    recording.dispatch(&line("fma"), &[n as u32, rounds as u32, S.to_bits()], &[y], [n, 1]);
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus};

    fn twin(i: usize, n: usize, rounds: usize) -> f32 {
        let round = |a: f32| a * S + i as f32 / n as f32;
        (0..NUMBERS).map(|first| (0..rounds).fold(first as f32, |a, _| round(a))).sum()
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn rounds_are_those_of_the_twin() {
        for gpu in gpus().await {
            for (n, rounds) in [(1, 0), (63, 1), (64, 2), (65, 3), (199, 7)] {
                let y = gpu.buffer_with_f32("y", &vec![SENTINEL; n + 1]);
                let mut recording = Recording::new(&gpu);
                record(&mut recording, &y, n, rounds);
                recording.run();
                let mut got = gpu.read_f32(&y, n + 1).await.unwrap();
                assert_eq!(got.pop(), Some(SENTINEL));
                assert_close("fma", &got, &(0..n).map(|i| twin(i, n, rounds)).collect::<Vec<_>>(), 1e-5);
            }
        }
    }
}
