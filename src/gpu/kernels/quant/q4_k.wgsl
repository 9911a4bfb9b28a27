// Q4_K: 256 values in 36 words: d and dmin, scales (12 bytes), qs (32 words; of 64 values the first 32 are low nibbles).
// Value: d scale q - dmin min.

#import scales_k4

struct Group {
    at: u32,
    mask: u32,
    // Of d scale q where q is what the mask leaves of a byte, and dmin min.
    scale: vec2<f32>,
}

fn group_at(index: u32) -> Group {
    let block = index / 16u * 36u;
    let s = index % 16u / 2u;
    let scale = halves(weights[block]) * scale_and_min(block + 1u, s);
    // High nibbles are not shifted down but counted in sixteenths: exact, and a shift less for every four values.
    let is_high = s % 2u == 1u;
    let mask = select(0x0f0f0f0fu, 0xf0f0f0f0u, is_high);
    return Group(block + 4u + s / 2u * 8u + index % 2u * 4u, mask, scale * vec2<f32>(select(1.0, 0.0625, is_high), 1.0));
}

fn four(group: Group, j: u32) -> vec4<f32> {
    return group.scale.x * vec4<f32>(cleared_bytes(weights[group.at + j] & group.mask)) - group.scale.y;
}
