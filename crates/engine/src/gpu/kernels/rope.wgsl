// Rotary embedding of a head.

// Indices of the two values of pair `i`.
fn pair_at(i: u32) -> vec2<u32> {
    if INTERLEAVED {
        return vec2<u32>(2u * i, 2u * i + 1u);
    }
    return vec2<u32>(i, i + p.rotated_dim / 2u);
}

// Rotates a pair by an angle, given as (cos, sin).
fn rotate(pair: vec2<f32>, angle: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(pair.x * angle.x - pair.y * angle.y, pair.x * angle.y + pair.y * angle.x);
}
