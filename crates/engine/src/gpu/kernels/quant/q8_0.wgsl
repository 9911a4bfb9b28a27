// Q8_0: 32 values in 9 words: qs (8 words of signed bytes), d. Value: d q.

struct Group {
    at: u32,
    scale: f32,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    let at = after(row, (2u * quad + i / 2u) * 9u);
    return Group(after(at, i % 2u * 4u), unpack_f16_pair(word(at, 8u)).x);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let signed = vec4<i32>(bitcast<i32>(word(group.at, j))) << vec4<u32>(24u, 16u, 8u, 0u);
    return group.scale * vec4<f32>(signed >> vec4<u32>(24u));
}
