// F16: 8 words of two values.

struct Group {
    at: u32,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    return Group(after(row, (4u * quad + i) * 8u));
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let at = after(group.at, 2u * j);
    return vec4<f32>(unpack_f16_pair(word(at, 0u)), unpack_f16_pair(word(at, 1u)));
}
