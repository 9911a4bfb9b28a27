// Scale and min with index 2 pair + i (of 8) of Q4_K and Q5_K: 6 bits each in 12 bytes, starting at word `at`.
fn scale_and_min(at: u32, pair: u32, i: u32) -> vec2<f32> {
    let shift = pair % 2u * 16u;
    let early = vec2<u32>(word(at, 0u), word(at, 1u)) >> vec2<u32>(shift);
    // From index 4 on, the lower four bits are in the last word, and the upper two bits are above those of the first four.
    let low = (vec2<u32>(word(at, 2u) >> shift) >> vec2<u32>(0u, 4u)) & vec2<u32>(0x0f0fu);
    let late = low | ((early >> vec2<u32>(2u)) & vec2<u32>(0x3030u));
    let both = select(late, early & vec2<u32>(0x3f3fu), pair < 2u);
    return vec2<f32>((both >> vec2<u32>(8u * i)) & vec2<u32>(255u));
}
