//! Tokens to their embeddings.

use super::rectangle;
use crate::gpu::device::Buffer;
use crate::gpu::recording::Recording;
use crate::gpu::weights::Matrix;

/// x[first + r] = W[token of rows[first + r]] for `n` rows; x is `[.., stride]`, padding becomes zero.
pub fn record<'a>(recording: &mut Recording<'a>, w: &'a Matrix, rows: &'a Buffer, x: &'a Buffer, first: usize, n: usize, stride: usize) {
    for slab in &w.slabs {
        let kernel = rectangle("embed").reading(slab.format);
        let parameters = [n, first, slab.groups, stride, slab.rows.start, slab.rows.end];
        recording.dispatch(&kernel, &parameters.map(|number| number as u32), &[&slab.buffer, rows, x], [slab.groups, n]);
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::testing::{gpus, random};
    use crate::gpu::weights::Slab;
    use crate::model::quant::QUANTS;

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn each_row_gets_its_tokens_embedding_from_the_slab_that_has_it() {
        const DIM: usize = 20;
        let table = random(70 * DIM, 3);
        let bytes: Vec<u8> = table.iter().flat_map(|value| value.to_le_bytes()).collect();
        for gpu in gpus().await {
            let slab = |rows: std::ops::Range<usize>| {
                let mut slab = Slab::from_bytes(&gpu, &QUANTS[0], DIM, &bytes[4 * DIM * rows.start..4 * DIM * rows.end]);
                slab.rows = rows;
                slab
            };
            let matrix = Matrix { slabs: vec![slab(0..30), slab(30..70)] };
            let tokens: Vec<u32> = (0..67).map(|i| i * 29 % 70).collect();
            let rows: Vec<Row> = tokens.iter().map(|&token| Row { token, ..Row::default() }).collect();
            let rows = gpu.buffer_with("rows", &Row::words(&rows));
            let x = gpu.buffer_with_f32("x", &vec![7.0; 68 * 32]);
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &matrix, &rows, &x, 1, 66, 32);
            recording.run();
            let x = gpu.read_f32(&x, 68 * 32).await.unwrap();
            for (row, &token) in tokens.iter().enumerate().skip(1) {
                assert_eq!(&x[row * 32..][..DIM], &table[token as usize * DIM..][..DIM]);
                assert_eq!(x[row * 32 + DIM..(row + 1) * 32], [0.0; 12]);
            }
            assert!(x[..32].iter().chain(&x[67 * 32..]).all(|&value| value == 7.0));
        }
    }
}
