// y[r, i] = silu(gate[r, i]) up[r, i], silu(x) = x / (1 + exp(-x)). Where GELU is set, gelu(x) = x / (1 + exp(-2 z)) instead, with
// z = sqrt(2 / pi) (x + 0.044715 x^3): the same as x (1 + tanh(z)) / 2.
// gate_up: [n, gate and up, ffn_dim], y: [n, stride].
// Dispatch: x over ffn_dim, y over rows.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> gate_up: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

fn exponent(gate: f32) -> f32 {
    if !GELU {
        return gate;
    }
    // Beyond 20 nothing changes, and its third power would soon be infinite.
    let x = max(min(gate, 20.0), -20.0);
    return 1.5957691 * (x + 0.044715 * x * x * x);
}

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.ffn_dim || id.y >= p.n {
        return;
    }
    let at = 2u * id.y * p.ffn_dim + id.x;
    let gate = gate_up[at];
    // Below -80 silu is next to nothing, and exp(-x) would soon be infinite, for which WGSL promises nothing.
    y[id.y * p.stride + id.x] = gate / (1.0 + exp(-max(exponent(gate), -80.0))) * gate_up[at + p.ffn_dim];
}
