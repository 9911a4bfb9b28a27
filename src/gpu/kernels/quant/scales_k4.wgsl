// Scale and min number s (of 8) of Q4_K and Q5_K: 6 bits each in 12 bytes at word `at`.
fn scale_and_min(at: u32, s: u32) -> vec2<f32> {
    if s < 4u {
        return vec2<f32>(vec2<u32>(byte(at, s), byte(at, s + 4u)) & vec2<u32>(63u));
    }
    let low = byte(at, s + 4u);
    return vec2<f32>(f32((low & 15u) | ((byte(at, s - 4u) >> 6u) << 4u)), f32((low >> 4u) | ((byte(at, s) >> 6u) << 4u)));
}
