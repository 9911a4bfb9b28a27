// Q5_K: 256 values in 44 words: d and dmin, scales (12 bytes), qh (32 bytes; bit s of each for values 32s..32s+32), qs
// (32 words as in Q4_K). Value: d scale q - dmin min.

#import scales_k4

struct Group {
    at: u32,
    shift: u32,
    high_at: u32,
    high_bit: u32,
    scale: vec2<f32>,
}

fn group_at(index: u32) -> Group {
    let block = index / 16u * 44u;
    let s = index % 16u / 2u;
    let half = index % 2u * 4u;
    let scale = halves(weights[block]) * scale_and_min(block + 1u, s);
    return Group(block + 12u + s / 2u * 8u + half, s % 2u * 4u, block + 4u + half, s, scale);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let low = bytes(weights[group.at + j] >> group.shift) & vec4<u32>(15u);
    let high = bytes(weights[group.high_at + j] >> group.high_bit) & vec4<u32>(1u);
    return group.scale.x * vec4<f32>(low + 16u * high) - group.scale.y;
}
