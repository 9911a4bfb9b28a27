//! Types whose values come from a table of sixteen. The values in the table are closer together near zero.

use super::{Integers, each, half_at, sixteen_at};

/// `kvalues_iq4nl` of ggml-common.h.
const VALUES: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// `d VALUES[q]`, with one scale for 32 values. The low nibbles are the first 16 values, the high nibbles the others.
pub fn iq4_nl(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; 18], quants: &mut [i8; 32], scales, _: &mut [f32; 2]| {
        looked_up(sixteen_at(block, 2), quants);
        *scales = [half_at(block, 0); 2];
    });
}

/// `d (s - 32) VALUES[q]`, with six bits of s for 32 values. A block has the upper two bits of all s, then the lower four, then q as in
/// [`iq4_nl`].
pub fn iq4_xs(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; 136], quants: &mut [i8; 256], scales, _: &mut [f32; 16]| {
        let (scale, upper) = (half_at(block, 0), u16::from_le_bytes([block[2], block[3]]));
        for (i, quants) in quants.as_chunks_mut().0.iter_mut().enumerate() {
            let lower = block[4 + i / 2] >> (i % 2 * 4) & 0xF;
            let s = lower | ((upper >> (2 * i) & 3) << 4) as u8;
            scales[2 * i] = scale * (f32::from(s) - 32.0);
            scales[2 * i + 1] = scales[2 * i];
            looked_up(sixteen_at(block, 8 + 16 * i), quants);
        }
    });
}

#[inline(always)]
fn looked_up(bytes: &[u8; 16], quants: &mut [i8; 32]) {
    for (i, &byte) in bytes.iter().enumerate() {
        quants[i] = VALUES[usize::from(byte & 0xF)];
        quants[16 + i] = VALUES[usize::from(byte >> 4)];
    }
}

#[cfg(test)]
mod tests {
    use crate::quant::by_id;

    /// Random blocks and their values according to gguf-py, written by `golden/iq4.py`.
    const GOLDEN: &str = include_str!("../../../../tests/golden/iq4.json");

    #[test]
    fn values_are_those_of_gguf_py() {
        let golden: serde_json::Value = serde_json::from_str(GOLDEN).unwrap();
        for (name, id) in [("IQ4_NL", 20), ("IQ4_XS", 23)] {
            let blocks: Vec<u8> = serde_json::from_value(golden[name]["blocks"].clone()).unwrap();
            let values: Vec<f32> = serde_json::from_value(golden[name]["values"].clone()).unwrap();
            assert_eq!(by_id(id).unwrap().values(&blocks), values, "{name}");
        }
    }
}
