// Q4_K: 256 values in 36 words: d and dmin, scales (12 bytes), qs (32 words; for each 64 values, the first 32 are low nibbles).
// Value: d scale q - dmin min.

#import scales_k4

struct Group {
    at: u32,
    mask: u32,
    // x: factor of a masked byte: d scale, or d scale / 16 for high nibbles; y: dmin min.
    scale: vec2<f32>,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    let block = after(row, quad / 4u * 36u);
    let pair = quad % 4u;
    let scale = unpack_f16_pair(word(block, 0u)) * scale_and_min(after(block, 1u), pair, i / 2u);
    // Masks high nibbles without shifting them and scales them by 1/16. This is exact and saves a shift per four values.
    let is_high = i >= 2u;
    let mask = select(0x0f0f0f0fu, 0xf0f0f0f0u, is_high);
    return Group(after(block, 4u + 8u * pair + i % 2u * 4u), mask, scale * vec2<f32>(select(1.0, 0.0625, is_high), 1.0));
}

fn four(group: Group, j: u32) -> vec4<f32> {
    return group.scale.x * vec4<f32>(cleared_bytes(word(group.at, j) & group.mask)) - group.scale.y;
}
