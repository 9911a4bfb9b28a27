// F32: 16 words.

struct Group {
    at: u32,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    return Group(after(row, (4u * quad + i) * 16u));
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let at = after(group.at, 4u * j);
    return bitcast<vec4<f32>>(vec4<u32>(word(at, 0u), word(at, 1u), word(at, 2u), word(at, 3u)));
}
