// Removes the gates that follow the queries of each head: y[r] = q of all heads, k, v.
// projected: [n, (2 n_heads + 2 n_kv_heads) head_dim], y: [n, width].
// Dispatch: x over values of y, y over rows.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> projected: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.width || id.y >= p.n {
        return;
    }
    let gates_before = min(id.x / p.head_dim, p.n_heads) * p.head_dim;
    y[id.y * p.width + id.x] = projected[id.y * (p.width + p.n_heads * p.head_dim) + id.x + gates_before];
}
