// F16: 8 words of two.

struct Group {
    at: u32,
}

fn group_at(index: u32) -> Group {
    return Group(index * 8u);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let at = group.at + 2u * j;
    return vec4<f32>(halves(weights[at]), halves(weights[at + 1u]));
}
