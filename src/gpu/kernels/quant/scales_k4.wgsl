// Scale and min number s (of 8) of Q4_K and Q5_K: 6 bits each in 12 bytes at word `at`.
fn scale_and_min(at: u32, s: u32) -> vec2<f32> {
    let shift = s % 4u * 8u;
    let pair = vec2<u32>(weights[at], weights[at + 1u]) >> vec2<u32>(shift);
    // From the fifth on, their lower four bits are in the last word, and their upper two above those of the first four.
    let low = (vec2<u32>(weights[at + 2u] >> shift) >> vec2<u32>(0u, 4u)) & vec2<u32>(15u);
    let high = (pair >> vec2<u32>(2u)) & vec2<u32>(48u);
    return vec2<f32>(select(low | high, pair & vec2<u32>(63u), s < 4u));
}
