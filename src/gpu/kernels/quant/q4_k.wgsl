// Q4_K: 256 values in 36 words: d and dmin, scales (12 bytes), qs (32 words; of 64 values the first 32 are low nibbles).
// Value: d scale q - dmin min.

#import scales_k4

struct Group {
    at: u32,
    shift: u32,
    scale: vec2<f32>,
}

fn group_at(index: u32) -> Group {
    let block = index / 16u * 36u;
    let s = index % 16u / 2u;
    let scale = halves(weights[block]) * scale_and_min(block + 1u, s);
    return Group(block + 4u + s / 2u * 8u + index % 2u * 4u, s % 2u * 4u, scale);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    return group.scale.x * vec4<f32>(bytes(weights[group.at + j] >> group.shift) & vec4<u32>(15u)) - group.scale.y;
}
