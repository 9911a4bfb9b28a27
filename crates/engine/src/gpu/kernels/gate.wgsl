// Gate of SwiGLU: silu(x) = x / (1 + exp(-x)). If GELU is set: gelu(x) = x / (1 + exp(-2 z)) with
// z = sqrt(2 / pi) (x + 0.044715 x^3), which equals x (1 + tanh(z)) / 2.

fn exponent(gate: f32) -> f32 {
    if !GELU {
        return gate;
    }
    // Beyond 20, the result no longer changes, and the third power would overflow soon.
    let x = max(min(gate, 20.0), -20.0);
    return 1.5957691 * (x + 0.044715 * x * x * x);
}

fn gated(gate: f32) -> f32 {
    // Below -80, silu is almost 0, and exp(-x) would overflow soon. WGSL does not define the result of an overflow.
    return gate / (1.0 + exp(-max(exponent(gate), -80.0)));
}
