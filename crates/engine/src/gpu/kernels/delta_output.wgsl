// Normalizes and gates DeltaNet outputs in place, per head:
// y[r, h, i] <- norm[i] y[r, h, i] / sqrt(mean(y[r, h]^2) + epsilon) silu(gate[r, h, i])
// y: [n, y_stride]; gates: [n, gate_stride], starting at column gate_first; norm: [head_dim].
// Dispatch: one invocation per value head; x over heads, y over rows.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> norm: array<f32>;
@group(0) @binding(2) var<storage, read> gates: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n_heads || id.y >= p.n {
        return;
    }
    let at = id.y * p.y_stride + id.x * p.head_dim;
    var sum = 0.0;
    for (var i = 0u; i < p.head_dim; i++) {
        sum += y[at + i] * y[at + i];
    }
    let scale = inverseSqrt(sum / f32(p.head_dim) + p.epsilon);
    let from_gates = id.y * p.gate_stride + p.gate_first + id.x * p.head_dim;
    for (var i = 0u; i < p.head_dim; i++) {
        let gate = gates[from_gates + i];
        y[at + i] *= norm[i] * scale * gate / (1.0 + exp(-max(gate, -80.0)));
    }
}
