//! Gathers rows by index.

use super::two_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        stride: usize,
    }
}

/// y[r] = x[index[first + r]] for `n` rows of `stride` values.
pub fn record<'a>(recording: &mut Recording<'a>, index: &'a Buffer, first: usize, x: &'a Buffer, y: &'a Buffer, n: usize, stride: usize) {
    recording.dispatch(kernel(), Params { n, first, stride }, &[index, x, y], [stride, n]);
}

pub fn kernel() -> Kernel {
    two_dimensional("gather").with_params(Params::WGSL)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::gpus_and_interpreters;

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn rows_are_gathered_in_order_of_index() {
        for gpu in gpus_and_interpreters().await {
            let index = gpu.buffer_with("index", &[9, 2, 0, 1]);
            let x = gpu.buffer_with("x", &(0..3 * 17).collect::<Vec<_>>());
            let y = gpu.buffer("y", 4 * 17);
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &index, 1, &x, &y, 3, 17);
            recording.run();
            let expected: Vec<u32> = (34..51).chain(0..17).chain(17..34).chain([0; 17]).collect();
            assert_eq!(gpu.read(&y, 4 * 17).await.unwrap(), expected);
        }
    }
}
