// BF16: 8 words of two values. Each value is the upper half of an f32.

struct Group {
    at: u32,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    return Group(after(row, (4u * quad + i) * 8u));
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let at = after(group.at, 2u * j);
    let pairs = vec2<u32>(word(at, 0u), word(at, 1u));
    return bitcast<vec4<f32>>(vec4<u32>(pairs.x << 16u, pairs.x & 0xffff0000u, pairs.y << 16u, pairs.y & 0xffff0000u));
}
