// Q6_K: 256 values in 53 words: ql (32 words of nibbles), qh (16 words of 2 bits), scales (16 signed bytes), d.
// Of 128 values, those 32r..32r+32 are nibble r / 2 of 32 bytes of ql (the second 32 for odd r) and bits 2r of 32 bytes of qh.
// Value: d scale (q - 32).

struct Group {
    at: u32,
    shift: u32,
    high_at: u32,
    high_shift: u32,
    scale: f32,
}

fn group_at(index: u32) -> Group {
    let block = index / 16u * 53u;
    let g = index % 16u;
    let r = g % 8u / 2u;
    let half = g % 2u * 4u;
    let signed = bitcast<i32>(byte(block + 48u, g) << 24u) >> 24u;
    let scale = halves(weights[block + 52u]).x * f32(signed);
    return Group(block + g / 8u * 16u + r % 2u * 8u + half, r / 2u * 4u, block + 32u + g / 8u * 8u + half, r * 2u, scale);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let low = bytes(weights[group.at + j] >> group.shift) & vec4<u32>(15u);
    let high = bytes(weights[group.high_at + j] >> group.high_shift) & vec4<u32>(3u);
    return group.scale * (vec4<f32>(low | (high << vec4<u32>(4u))) - 32.0);
}
