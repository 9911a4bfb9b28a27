//! What is read, to its embeddings.

use super::rectangle;
use crate::gpu::device::Buffer;
use crate::gpu::recording::Recording;
use crate::gpu::weights::Matrix;

/// `n` rows from `first` on.
pub struct Embed<'a> {
    pub rows: &'a Buffer,
    /// Whether some rows are mixed of two embeddings.
    pub mixed: bool,
    /// `[.., stride]`; padding becomes zero.
    pub x: &'a Buffer,
    pub first: usize,
    pub n: usize,
    pub stride: usize,
}

/// x[r] = (1 - share) W[token] + share W[other] for each row r.
pub fn record<'a>(recording: &mut Recording<'a>, w: &'a Matrix, embed: &Embed<'a>) {
    let &Embed { rows, mixed, x, first, n, stride } = embed;
    for other in [false, true].into_iter().filter(|&other| mixed || !other) {
        for slab in &w.slabs {
            let kernel = rectangle("embed").reading(slab.format);
            let parameters = [n, first, slab.groups, stride, slab.rows.start, slab.rows.end, usize::from(other)];
            recording.dispatch(&kernel, &parameters.map(|number| number as u32), &[&slab.buffer, rows, x], [slab.groups, n]);
        }
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::testing::{assert_close, gpus, random};
    use crate::gpu::weights::Slab;
    use crate::model::quant::QUANTS;

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn each_row_gets_its_embeddings_from_the_slabs_that_have_them() {
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
            let share = |token: u32| if token.is_multiple_of(3) { 0.25 } else { 0.0 };
            let row = |&token: &u32| Row { token, other: (token + 35) % 70, share: share(token), ..Row::default() };
            let rows: Vec<Row> = tokens.iter().map(row).collect();
            let rows = gpu.buffer_with("rows", &Row::words(&rows));
            let x = gpu.buffer_with_f32("x", &vec![7.0; 68 * 32]);
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &matrix, &Embed { rows: &rows, mixed: true, x: &x, first: 1, n: 66, stride: 32 });
            recording.run();
            let x = gpu.read_f32(&x, 68 * 32).await.unwrap();
            for (row, &token) in tokens.iter().enumerate().skip(1) {
                let value = |token: u32, i: usize| table[token as usize * DIM + i];
                let mixed = |i: usize| (1.0 - share(token)) * value(token, i) + share(token) * value((token + 35) % 70, i);
                assert_close("embed", &x[row * 32..][..DIM], &(0..DIM).map(mixed).collect::<Vec<_>>(), 1e-6);
                assert_eq!(x[row * 32 + DIM..(row + 1) * 32], [0.0; 12]);
            }
            assert!(x[..32].iter().chain(&x[67 * 32..]).all(|&value| value == 7.0));
        }
    }
}
