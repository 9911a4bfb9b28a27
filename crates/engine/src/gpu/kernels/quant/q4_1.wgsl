// Q4_1: 32 values in 5 words: d and m, qs (4 words as in Q4_0). Value: d q + m.

struct Group {
    at: u32,
    shift: u32,
    scale: vec2<f32>,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    let at = after(row, (2u * quad + i / 2u) * 5u);
    return Group(after(at, 1u), i % 2u * 4u, unpack_f16_pair(word(at, 0u)));
}

fn four(group: Group, j: u32) -> vec4<f32> {
    return group.scale.x * vec4<f32>(bytes(word(group.at, j) >> group.shift) & vec4<u32>(15u)) + group.scale.y;
}
