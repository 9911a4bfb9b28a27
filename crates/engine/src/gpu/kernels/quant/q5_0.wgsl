// Q5_0: 32 values in 6 words: qh (one bit per value), qs (4 words as in Q4_0), d. Value: d (q - 16).

struct Group {
    at: u32,
    shift: u32,
    high: u32,
    scale: f32,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    let at = after(row, (2u * quad + i / 2u) * 6u);
    let half = i % 2u;
    return Group(after(at, 1u), half * 4u, word(at, 0u) >> (16u * half), unpack_f16_pair(word(at, 5u)).x);
}

fn four(group: Group, j: u32) -> vec4<f32> {
    let low = bytes(word(group.at, j) >> group.shift) & vec4<u32>(15u);
    let high = (vec4<u32>(group.high >> (4u * j)) >> vec4<u32>(0u, 1u, 2u, 3u)) & vec4<u32>(1u);
    return group.scale * (vec4<f32>(low + 16u * high) - 16.0);
}
