// Q8_0: 32 values in 9 words: qs (8 words of signed bytes), d. Value: d q.

struct Group {
    at: u32,
    scale: f32,
}

fn group_at(index: u32) -> Group {
    let at = index / 2u * 9u;
    return Group(at + index % 2u * 4u, halves(weights[at + 8u]).x);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let signed = vec4<i32>(bitcast<i32>(weights[group.at + j])) << vec4<u32>(24u, 16u, 8u, 0u);
    return group.scale * vec4<f32>(signed >> vec4<u32>(24u));
}
