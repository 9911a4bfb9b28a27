// The gate of SwiGLU, silu(x) = x / (1 + exp(-x)). Where GELU is set, gelu(x) = x / (1 + exp(-2 z)) instead, with
// z = sqrt(2 / pi) (x + 0.044715 x^3): the same as x (1 + tanh(z)) / 2.

fn exponent(gate: f32) -> f32 {
    if !GELU {
        return gate;
    }
    // Beyond 20 nothing changes, and its third power would soon be infinite.
    let x = max(min(gate, 20.0), -20.0);
    return 1.5957691 * (x + 0.044715 * x * x * x);
}

fn gated(gate: f32) -> f32 {
    // Below -80 silu is next to nothing, and exp(-x) would soon be infinite, for which WGSL promises nothing.
    return gate / (1.0 + exp(-max(exponent(gate), -80.0)));
}
