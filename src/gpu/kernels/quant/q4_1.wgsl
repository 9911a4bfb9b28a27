// Q4_1: 32 values in 5 words: d and m, qs (4 words as in Q4_0). Value: d q + m.

struct Group {
    at: u32,
    shift: u32,
    scale: vec2<f32>,
}

fn group_at(index: u32) -> Group {
    let at = index / 2u * 5u;
    return Group(at + 1u, index % 2u * 4u, halves(weights[at]));
}

fn four(group: Group, j: u32) -> vec4<f32> {
    return group.scale.x * vec4<f32>(bytes(weights[group.at + j] >> group.shift) & vec4<u32>(15u)) + group.scale.y;
}
