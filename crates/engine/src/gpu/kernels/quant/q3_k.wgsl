// Q3_K: 256 values in 28 words: hmask (32 bytes, one bit per value), qs (16 words, 2 bits as in Q2_K), scales (12 bytes:
// low 4 bits of 16 scales, then their high 2 bits), d. Value: d (scale - 32) (q - 4 if its mask bit is 0).

struct Group {
    at: u32,
    shift: u32,
    mask_at: u32,
    mask_bit: u32,
    scale: f32,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    let block = after(row, quad / 4u * 28u);
    let g = quad % 4u * 4u + i;
    let low = (byte(after(block, 24u), g % 8u) >> (g / 8u * 4u)) & 15u;
    let high = (byte(after(block, 24u), 8u + g % 4u) >> (g / 4u * 2u)) & 3u;
    let scale = unpack_f16_pair(word(block, 27u)).x * (f32(low | (high << 4u)) - 32.0);
    let pair = g % 8u / 2u;
    let half = g % 2u * 4u;
    return Group(after(block, 8u + g / 8u * 8u + half), pair * 2u, after(block, half), g / 8u * 4u + pair, scale);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let low = bytes(word(group.at, j) >> group.shift) & vec4<u32>(3u);
    let high = bytes(word(group.mask_at, j) >> group.mask_bit) & vec4<u32>(1u);
    return group.scale * (vec4<f32>(low + 4u * high) - 4.0);
}
