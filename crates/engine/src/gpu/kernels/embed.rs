//! Token embeddings, and blends of two of them.

use super::two_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::format::Format;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::variant::Variant;
use crate::gpu::weights::{Matrix, Slab};
use crate::gpu::wgsl::wgsl_struct;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        /// Groups of 16 values in a row of the matrix.
        groups: usize,
        /// 4-byte words of a row.
        row_words: usize,
        /// Stride of a row of x, in f32 values.
        stride: usize,
        /// Range of matrix rows in this slab.
        slab_first: usize,
        slab_end: usize,
        /// Adds the embedding of `blend_with` to the token's own embedding, which was written before.
        adds_blend: bool,
        scale: f32,
    }
}

/// Arguments for `n` rows, starting at row `first`.
pub struct Embed<'a> {
    pub rows: &'a Buffer,
    /// Whether some rows blend two embeddings.
    pub blends: bool,
    /// `[.., stride]`. The padding is set to zero.
    pub x: &'a Buffer,
    pub first: usize,
    pub n: usize,
    pub stride: usize,
    /// Factor of all embeddings.
    pub scale: f64,
}

/// `x[r] = scale ((1 - blend) W[token] + blend W[blend_with])` for each row r.
pub fn record<'a>(recording: &mut Recording<'a>, w: &'a Matrix, embed: &Embed<'a>) {
    let &Embed { rows: tokens, blends, x, first, n, stride, scale } = embed;
    for adds_blend in [false, true].into_iter().filter(|&adds_blend| blends || !adds_blend) {
        for slab in &w.slabs {
            let &Slab { groups, row_words, ref rows, .. } = slab;
            let (slab_first, slab_end) = (rows.start, rows.end);
            let params = Params { n, first, groups, row_words, stride, slab_first, slab_end, adds_blend, scale: scale as f32 };
            recording.dispatch(kernel(recording.gpu().variant, slab.format), params, &[&slab.buffer, tokens, x], [groups, n]);
        }
    }
}

pub fn kernel(variant: &Variant, format: &'static Format) -> Kernel {
    two_dimensional("embed").with_format(format, variant).with_params(Params::WGSL)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::testing::{assert_close, gpus_and_interpreters, random};
    use glasscage_model::quant::QUANTS;

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn row_reads_embeddings_from_their_slabs() {
        const DIM: usize = 20;
        let table = random(70 * DIM, 3);
        let bytes: Vec<u8> = table.iter().flat_map(|value| value.to_le_bytes()).collect();
        for gpu in gpus_and_interpreters().await {
            let slab = |rows: std::ops::Range<usize>| {
                let mut slab = Slab::from_bytes(&gpu, &QUANTS[0], DIM, &bytes[4 * DIM * rows.start..4 * DIM * rows.end]);
                slab.rows = rows;
                slab
            };
            let matrix = Matrix { slabs: vec![slab(0..30), slab(30..70)] };
            let tokens: Vec<u32> = (0..67).map(|i| i * 29 % 70).collect();
            let blend = |token: u32| if token.is_multiple_of(3) { 0.25 } else { 0.0 };
            let row = |&token: &u32| Row { token, blend_with: (token + 35) % 70, blend: blend(token), ..Row::default() };
            let rows: Vec<Row> = tokens.iter().map(row).collect();
            let rows = gpu.buffer_with("rows", &Row::all_words(&rows));
            let x = gpu.buffer_with_f32("x", &vec![7.0; 68 * 32]);
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &matrix, &Embed { rows: &rows, blends: true, x: &x, first: 1, n: 66, stride: 32, scale: 0.5 });
            recording.run();
            let x = gpu.read_f32(&x, 68 * 32).await.unwrap();
            for (row, &token) in tokens.iter().enumerate().skip(1) {
                let value = |token: u32, i: usize| table[token as usize * DIM + i];
                let expected = |i: usize| 0.5 * ((1.0 - blend(token)) * value(token, i) + blend(token) * value((token + 35) % 70, i));
                assert_close("embed", &x[row * 32..][..DIM], &(0..DIM).map(expected).collect::<Vec<_>>(), 1e-6);
                assert_eq!(x[row * 32 + DIM..(row + 1) * 32], [0.0; 12]);
            }
            assert!(x[..32].iter().chain(&x[67 * 32..]).all(|&value| value == 7.0));
        }
    }

    /// Decodes binary16 by its definition in IEEE 754.
    fn half(bits: u16) -> f64 {
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        let magnitude = match exponent {
            0 => fraction * f64::powi(2.0, -24),
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1024.0 + fraction) * f64::powi(2.0, exponent - 25),
        };
        if bits >> 15 == 1 { -magnitude } else { magnitude }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn f16_values_are_decoded_exactly() {
        const COLUMNS: usize = 256;
        let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let f16 = QUANTS.iter().find(|quant| quant.name == "F16").expect("F16 can be read");
        for gpu in gpus_and_interpreters().await {
            let matrix = Matrix { slabs: vec![Slab::from_bytes(&gpu, f16, COLUMNS, &all)] };
            let rows: Vec<Row> = (0..256).map(|token| Row { token, ..Row::default() }).collect();
            let rows = gpu.buffer_with("rows", &Row::all_words(&rows));
            let x = gpu.buffer("x", 256 * COLUMNS);
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &matrix, &Embed { rows: &rows, blends: false, x: &x, first: 0, n: 256, stride: COLUMNS, scale: 1.0 });
            recording.run();
            let decoded = gpu.read_f32(&x, 256 * COLUMNS).await.unwrap();
            for (bits, decoded) in (0..=u16::MAX).zip(decoded) {
                let expected = half(bits) as f32;
                let is_exact = if expected.is_finite() { decoded == expected } else { !decoded.is_finite() };
                assert!(is_exact, "{bits:04x}: {decoded}");
            }
        }
    }
}
