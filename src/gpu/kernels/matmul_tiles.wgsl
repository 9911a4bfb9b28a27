// matmul with workgroup memory: a workgroup computes 64 tokens x 64 rows from tiles there, each invocation 4 x 4.
// Dispatch: x over rows / 64, y over tokens / 64.

#import matmul_common

// 16 columns of 64 rows and of 64 tokens: [column / 4, row or token], four columns per vector.
var<workgroup> w_tile: array<vec4<f32>, 256>;
var<workgroup> x_tile: array<vec4<f32>, 256>;

// Adds the products of four columns, which begin at `k` in the tiles, of 4 rows from local.x on with 4 tokens from local.y on.
fn add_products(k: u32, local: vec2<u32>, sums: ptr<function, array<vec4<f32>, 4>>) {
    let w0 = w_tile[k + local.x];
    let w1 = w_tile[k + local.x + 16u];
    let w2 = w_tile[k + local.x + 32u];
    let w3 = w_tile[k + local.x + 48u];
    let x0 = x_tile[k + local.y];
    let x1 = x_tile[k + local.y + 16u];
    let x2 = x_tile[k + local.y + 32u];
    let x3 = x_tile[k + local.y + 48u];
    (*sums)[0] += vec4<f32>(dot(w0, x0), dot(w1, x0), dot(w2, x0), dot(w3, x0));
    (*sums)[1] += vec4<f32>(dot(w0, x1), dot(w1, x1), dot(w2, x1), dot(w3, x1));
    (*sums)[2] += vec4<f32>(dot(w0, x2), dot(w1, x2), dot(w2, x2), dot(w3, x2));
    (*sums)[3] += vec4<f32>(dot(w0, x3), dot(w1, x3), dot(w2, x3), dot(w3, x3));
}

@compute @workgroup_size(16, 16)
fn main(
    @builtin(workgroup_id) tile: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    // This invocation loads columns 4 part..4 part + 4 of a row, and of a token.
    let loaded = index % 64u;
    let part = index / 64u;
    let w_at = (p.w_first + min(tile.x * 64u + loaded, p.rows - 1u)) * p.groups;
    let x_at = (p.x_first + min(tile.y * 64u + loaded, p.n - 1u)) * p.x_stride + part;
    // One token each; its component r is row local.x + 16 r.
    var sums: array<vec4<f32>, 4>;
    for (var g = 0u; g < p.groups; g++) {
        let w = four(group_at(w_at + g), part);
        let values = x[x_at + g * 4u];
        workgroupBarrier();
        w_tile[index] = w;
        x_tile[index] = values;
        workgroupBarrier();
        // Written out: Firefox guards loops against not ending, for a fifth of the instructions that NVIDIA's compiler makes here.
        add_products(0u, local.xy, &sums);
        add_products(64u, local.xy, &sums);
        add_products(128u, local.xy, &sums);
        add_products(192u, local.xy, &sums);
    }
    let rows = tile.x * 64u + local.x + vec4<u32>(0u, 16u, 32u, 48u);
    let token = tile.y * 64u + local.y;
    store(token, rows, sums[0]);
    store(token + 16u, rows, sums[1]);
    store(token + 32u, rows, sums[2]);
    store(token + 48u, rows, sums[3]);
}
