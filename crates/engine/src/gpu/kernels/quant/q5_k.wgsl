// Q5_K: 256 values in 44 words: d and dmin, scales (12 bytes), qh (32 bytes; bit s of each byte for values 32s..32s+32), qs
// (32 words as in Q4_K). Value: d scale q - dmin min.

#import scales_k4

struct Group {
    at: u32,
    shift: u32,
    high_at: u32,
    high_bit: u32,
    scale: vec2<f32>,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    let block = after(row, quad / 4u * 44u);
    let pair = quad % 4u;
    let half = i % 2u * 4u;
    let scale = unpack_f16_pair(word(block, 0u)) * scale_and_min(after(block, 1u), pair, i / 2u);
    return Group(after(block, 12u + 8u * pair + half), i / 2u * 4u, after(block, 4u + half), 2u * pair + i / 2u, scale);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let low = bytes(word(group.at, j) >> group.shift) & vec4<u32>(15u);
    let high = bytes(word(group.high_at, j) >> group.high_bit) & vec4<u32>(1u);
    return group.scale.x * vec4<f32>(low + 16u * high) - group.scale.y;
}
