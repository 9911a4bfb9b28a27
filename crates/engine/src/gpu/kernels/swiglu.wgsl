// Gated activation: y[r, i] = silu(gate[r, i]) up[r, i], or gelu instead of silu.
// gate_up: [n, gate and up, ffn_dim], y: [n, stride].
// Dispatch: x over ffn_dim, y over rows.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> gate_up: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

#import gate

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.ffn_dim || id.y >= p.n {
        return;
    }
    let at = 2u * id.y * p.ffn_dim + id.x;
    y[id.y * p.stride + id.x] = gated(gate_up[at]) * gate_up[at + p.ffn_dim];
}
