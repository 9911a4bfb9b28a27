// Q5_0: 32 values in 6 words: qh (one bit per value), qs (4 words as in Q4_0), d. Value: d (q - 16).

struct Group {
    at: u32,
    shift: u32,
    high: u32,
    scale: f32,
}

fn group_at(index: u32) -> Group {
    let at = index / 2u * 6u;
    let half = index % 2u;
    return Group(at + 1u, half * 4u, weights[at] >> (16u * half), halves(weights[at + 5u]).x);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let low = bytes(weights[group.at + j] >> group.shift) & vec4<u32>(15u);
    let high = (vec4<u32>(group.high >> (4u * j)) >> vec4<u32>(0u, 1u, 2u, 3u)) & vec4<u32>(1u);
    return group.scale * (vec4<f32>(low + 16u * high) - 16.0);
}
