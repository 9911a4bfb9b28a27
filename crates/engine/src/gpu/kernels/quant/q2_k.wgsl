// Q2_K: 256 values in 21 words: scales (16 bytes: scale and min, 4 bits each), qs (16 words of 2 bits), d and dmin.
// For each 128 values, values 32j..32j+32 are bits 2j of 32 bytes. Value: d scale q - dmin min.

struct Group {
    at: u32,
    shift: u32,
    scale: f32,
    low: f32,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    let block = after(row, quad / 4u * 21u);
    let g = quad % 4u * 4u + i;
    let d = unpack_f16_pair(word(block, 20u));
    let scale = byte(block, g);
    return Group(after(block, 4u + g / 8u * 8u + g % 2u * 4u), g % 8u / 2u * 2u, d.x * f32(scale & 15u), d.y * f32(scale >> 4u));
}

fn four(group: Group, j: u32) -> vec4<f32> {
    return group.scale * vec4<f32>(bytes(word(group.at, j) >> group.shift) & vec4<u32>(3u)) - group.low;
}
