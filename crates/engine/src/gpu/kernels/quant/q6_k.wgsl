// Q6_K: 256 values in 53 words: ql (32 words of nibbles), qh (16 words of 2 bits), scales (16 signed bytes), d.
// For each 128 values, values 32r..32r+32 are nibble r / 2 of 32 bytes of ql (the second 32 if r is odd) and bits 2r of 32 bytes of qh.
// Value: d scale (q - 32).

struct Group {
    at: u32,
    shift: u32,
    high_at: u32,
    high_shift: u32,
    scale: f32,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    let block = after(row, quad / 4u * 53u);
    let g = quad % 4u * 4u + i;
    let r = g % 8u / 2u;
    let half = g % 2u * 4u;
    let signed = bitcast<i32>(byte(after(block, 48u), g) << 24u) >> 24u;
    let scale = unpack_f16_pair(word(block, 52u)).x * f32(signed);
    let at = after(block, g / 8u * 16u + r % 2u * 8u + half);
    return Group(at, r / 2u * 4u, after(block, 32u + g / 8u * 8u + half), r * 2u, scale);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let low = (word(group.at, j) >> group.shift) & 0x0f0f0f0fu;
    let high = (word(group.high_at, j) >> group.high_shift) & 0x03030303u;
    return group.scale * (vec4<f32>(cleared_bytes(low | (high << 4u))) - 32.0);
}
