// Blocks of 32 values in 5 words: qs (4 words; low nibbles are values 0..16, high ones 16..32), d.
struct Group {
    at: u32,
    shift: u32,
    scale: f32,
}

fn group_at(index: u32) -> Group {
    let at = index / 2u * 5u;
    return Group(at, index % 2u * 4u, halves(weights[at + 4u]).x);
}

fn nibbles(group: Group, j: u32) -> vec4<u32> {
    return bytes(weights[group.at + j] >> group.shift) & vec4<u32>(15u);
}
