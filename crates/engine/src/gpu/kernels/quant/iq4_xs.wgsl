// IQ4_XS: 256 values in 34 words: d and the upper two bits of 8 scales s, their lower four bits (4 bytes), qs (32 words; for each 32
// values, low nibbles are values 0..16 and high nibbles 16..32). Value: d (s - 32) iq4_values(q).

#import iq4_values

struct Group {
    at: u32,
    shift: u32,
    scale: f32,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    let block = after(row, quad / 4u * 34u);
    let s = quad % 4u * 2u + i / 2u;
    let lower = (word(block, 1u) >> (4u * s)) & 15u;
    let upper = (word(block, 0u) >> (16u + 2u * s)) & 3u;
    let scale = unpack_f16_pair(word(block, 0u)).x * (f32(lower | (upper << 4u)) - 32.0);
    return Group(after(block, 2u + 4u * s), i % 2u * 4u, scale);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    return group.scale * iq4_values(bytes(word(group.at, j) >> group.shift) & vec4<u32>(15u));
}
