// F32: 16 words.

struct Group {
    at: u32,
}

fn group_at(index: u32) -> Group {
    return Group(index * 16u);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let at = group.at + 4u * j;
    return bitcast<vec4<f32>>(vec4<u32>(weights[at], weights[at + 1u], weights[at + 2u], weights[at + 3u]));
}
