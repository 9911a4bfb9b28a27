// Gates attention head outputs in place: y[r, h, i] *= sigmoid(projected[r, 2 h + 1, i]).
// projected: [n, stride], for each head queries, then gates; y: [n, y_stride].
// Dispatch: x over values of all heads, y over rows.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> projected: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.width || id.y >= p.n {
        return;
    }
    let gate = projected[id.y * p.stride + id.x + (id.x / p.head_dim + 1u) * p.head_dim];
    y[id.y * p.y_stride + id.x] *= 1.0 / (1.0 + exp(-max(gate, -80.0)));
}
