//! Blocks of 32 values with a scale, and in some types a minimum. The low nibbles are the first 16 integers, the high nibbles the others.

use super::layout::{Q4_0, Q4_1, Q5_0, Q5_1, Q8_0};
use super::{Integers, each, half_at, sixteen_at};

/// d q.
pub fn q8_0(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; Q8_0.bytes], quants: &mut [i8; 32], scales, _: &mut [f32; 2]| {
        for (i, quant) in quants.iter_mut().enumerate() {
            *quant = block[2 + i] as i8;
        }
        *scales = [half_at(block, 0); 2];
    });
}

/// d (q - 8).
pub fn q4_0(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; Q4_0.bytes], quants, scales, _: &mut [f32; 2]| {
        nibbles(sixteen_at(block, 2), [0; 4], 8, quants);
        *scales = [half_at(block, 0); 2];
    });
}

/// d q + m.
pub fn q4_1(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; Q4_1.bytes], quants, scales, minima| {
        nibbles(sixteen_at(block, 4), [0; 4], 0, quants);
        (*scales, *minima) = ([half_at(block, 0); 2], [-half_at(block, 2); 2]);
    });
}

/// d (q - 16), with the fifth bits of all values in four bytes.
pub fn q5_0(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; Q5_0.bytes], quants, scales, _: &mut [f32; 2]| {
        nibbles(sixteen_at(block, 6), [block[2], block[3], block[4], block[5]], 16, quants);
        *scales = [half_at(block, 0); 2];
    });
}

/// d q + m, with the fifth bits of all values in four bytes.
pub fn q5_1(blocks: &[u8], out: &mut Integers<'_>) {
    each(blocks, out, |block: &[u8; Q5_1.bytes], quants, scales, minima| {
        nibbles(sixteen_at(block, 8), [block[4], block[5], block[6], block[7]], 0, quants);
        (*scales, *minima) = ([half_at(block, 0); 2], [-half_at(block, 2); 2]);
    });
}

/// Unpacks four bits of each integer and a fifth bit, and subtracts `offset`. Computes eight integers at a time, one in each byte of a
/// word.
#[inline(always)]
fn nibbles(bytes: &[u8; 16], fifth: [u8; 4], offset: u8, quants: &mut [i8; 32]) {
    const BYTES: u64 = 0x0101_0101_0101_0101;
    let bytes = bytes.as_chunks().0;
    for (i, eight) in quants.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let lower = (u64::from_le_bytes(bytes[i % 2]) >> (i / 2 * 4)) & (0x0F * BYTES);
        // Selects the bit of each value in its byte, carries it to the highest bit, then shifts it to the fifth.
        let own = (u64::from(fifth[i]) * BYTES) & 0x8040_2010_0804_0201;
        let upper = ((own + 0x7F * BYTES) >> 3) & (0x10 * BYTES);
        // The set highest bit of each byte prevents a borrow from the next byte.
        let word = ((lower | upper | (0x80 * BYTES)) - u64::from(offset) * BYTES) ^ (0x80 * BYTES);
        let word = word.to_le_bytes();
        for (j, quant) in eight.iter_mut().enumerate() {
            *quant = word[j] as i8;
        }
    }
}
