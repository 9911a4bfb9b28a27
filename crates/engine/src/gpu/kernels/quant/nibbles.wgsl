// Blocks of 32 values in 5 words: qs (4 words; low nibbles are values 0..16, high nibbles 16..32), d.
struct Group {
    at: u32,
    shift: u32,
    scale: f32,
}

fn group_at(row: u32, quad: u32, i: u32) -> Group {
    let at = after(row, (2u * quad + i / 2u) * 5u);
    return Group(at, i % 2u * 4u, unpack_f16_pair(word(at, 4u)).x);
}

fn nibbles(group: Group, j: u32) -> vec4<u32> {
    return bytes(word(group.at, j) >> group.shift) & vec4<u32>(15u);
}
