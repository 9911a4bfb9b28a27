//! Blocks of 256 values in groups of 16 or 32. The scales and minima of the groups are quantized, too.

use super::layout::{Q4_K, Q5_K, Q6_K};
use super::{Integers, each, each_scales, half_at, sixteen_at};

/// d s q - m t, with two bits of q. Scale s and minimum t of 16 values share a byte.
pub fn q2_k(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; 84], quants: &mut [i8; 256], scales, minima: &mut [f32; 16]| {
        let (scale, minimum) = (half_at(block, 80), half_at(block, 82));
        for (group, quants) in quants.as_chunks_mut().0.iter_mut().enumerate() {
            scales[group] = scale * f32::from(block[group] & 0xF);
            minima[group] = minimum * f32::from(block[group] >> 4);
            let shift = group % 8 / 2 * 2;
            sixteen(quants, sixteen_at(block, 16 + group / 8 * 32 + group % 2 * 16), |byte| (byte >> shift & 3) as i8);
        }
    });
}

/// d (s - 32) (q - 4), with three bits of q. The third bits come first.
pub fn q3_k(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; 110], quants: &mut [i8; 256], scales, _: &mut [f32; 16]| {
        let (scale, packed) = (half_at(block, 108), &block[96..]);
        for (group, quants) in quants.as_chunks_mut().0.iter_mut().enumerate() {
            let (low, high) = (packed[group % 8] >> (group / 8 * 4) & 0xF, packed[8 + group % 4] >> (group / 4 * 2) & 3);
            scales[group] = scale * (f32::from(low | high << 4) - 32.0);
            let (third, shift) = (1 << (group / 2), group % 8 / 2 * 2);
            let (lower, thirds) = (sixteen_at(block, 32 + group / 8 * 32 + group % 2 * 16), sixteen_at(block, group % 2 * 16));
            both(quants, lower, thirds, |byte, bits| (byte >> shift & 3) as i8 - if bits & third == 0 { 4 } else { 0 });
        }
    });
}

/// d s q - m t, with four bits of q.
pub fn q4_k(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; Q4_K.bytes], quants: &mut [i8; 256], scales, minima: &mut [f32; 16]| {
        scales_and_minima(block, scales, minima);
        for (group, quants) in quants.as_chunks_mut().0.iter_mut().enumerate() {
            let shift = group / 2 % 2 * 4;
            sixteen(quants, sixteen_at(block, 16 + group / 4 * 32 + group % 2 * 16), |byte| (byte >> shift & 0xF) as i8);
        }
    });
}

/// d s q - m t, with five bits of q. The fifth bits come first.
pub fn q5_k(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; Q5_K.bytes], quants: &mut [i8; 256], scales, minima: &mut [f32; 16]| {
        scales_and_minima(block, scales, minima);
        for (group, quants) in quants.as_chunks_mut().0.iter_mut().enumerate() {
            let (fifth, shift) = (1 << (group / 2), group / 2 % 2 * 4);
            let (lower, fifths) = (sixteen_at(block, 48 + group / 4 * 32 + group % 2 * 16), sixteen_at(block, 16 + group % 2 * 16));
            both(quants, lower, fifths, |byte, bits| (byte >> shift & 0xF | if bits & fifth == 0 { 0 } else { 16 }) as i8);
        }
    });
}

/// d s (q - 32), with six bits of q. The lower four come first, then the upper two.
pub fn q6_k(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; Q6_K.bytes], quants: &mut [i8; 256], scales, _: &mut [f32; 16]| {
        scales_in_bytes(block, scales);
        for (group, quants) in quants.as_chunks_mut().0.iter_mut().enumerate() {
            let (half, quarter, start) = (group / 8, group % 8 / 2, group % 2 * 16);
            let (shift, upper_shift) = (quarter / 2 * 4, quarter * 2);
            let (lower, upper) = (sixteen_at(block, half * 64 + quarter % 2 * 32 + start), sixteen_at(block, 128 + half * 32 + start));
            both(quants, lower, upper, |lower, upper| (lower >> shift & 0xF | (upper >> upper_shift & 3) << 4) as i8 - 32);
        }
    });
}

pub fn scales_of_q4_k(blocks: &[u8], scales: &mut [f32], minima: &mut [f32]) {
    each_scales(blocks, scales, minima, |block: &[u8; Q4_K.bytes], scales, minima| scales_and_minima(block, scales, minima));
}

pub fn scales_of_q5_k(blocks: &[u8], scales: &mut [f32], minima: &mut [f32]) {
    each_scales(blocks, scales, minima, |block: &[u8; Q5_K.bytes], scales, minima| scales_and_minima(block, scales, minima));
}

pub fn scales_of_q6_k(blocks: &[u8], scales: &mut [f32], minima: &mut [f32]) {
    each_scales(blocks, scales, minima, |block: &[u8; Q6_K.bytes], scales, _: &mut [f32; 16]| scales_in_bytes(block, scales));
}

/// Computes d s for each group of 16 values.
#[inline(always)]
fn scales_in_bytes(block: &[u8; Q6_K.bytes], scales: &mut [f32; 16]) {
    let scale = half_at(block, 208);
    for (group, out) in scales.iter_mut().enumerate() {
        *out = scale * f32::from(block[192 + group] as i8);
    }
}

/// Computes d s and m t for each group of 32 values. Twelve bytes contain six bits of each s and t. The upper bits of the last four s and t
/// fill the bits that the first four leave free.
#[inline(always)]
fn scales_and_minima(block: &[u8], scales: &mut [f32; 16], minima: &mut [f32; 16]) {
    let (scale, minimum, packed) = (half_at(block, 0), half_at(block, 2), &block[4..16]);
    for i in 0..8 {
        let (s, t) = match i {
            0..4 => (packed[i] & 63, packed[i + 4] & 63),
            _ => (packed[i + 4] & 0xF | packed[i - 4] >> 6 << 4, packed[i + 4] >> 4 | packed[i] >> 6 << 4),
        };
        (scales[2 * i], minima[2 * i]) = (scale * f32::from(s), minimum * f32::from(t));
        (scales[2 * i + 1], minima[2 * i + 1]) = (scales[2 * i], minima[2 * i]);
    }
}

/// Unpacks integers that are in one byte each.
#[inline(always)]
fn sixteen(quants: &mut [i8; 16], bytes: &[u8; 16], integer: impl Fn(u8) -> i8) {
    for (i, quant) in quants.iter_mut().enumerate() {
        *quant = integer(bytes[i]);
    }
}

/// Unpacks integers whose upper bits are in other bytes.
#[inline(always)]
fn both(quants: &mut [i8; 16], lower: &[u8; 16], upper: &[u8; 16], integer: impl Fn(u8, u8) -> i8) {
    for (i, quant) in quants.iter_mut().enumerate() {
        *quant = integer(lower[i], upper[i]);
    }
}
