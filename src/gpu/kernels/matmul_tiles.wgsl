// matmul with workgroup memory: a workgroup computes 64 tokens x 64 rows from tiles there, each invocation 8 x 8.
// Dispatch: x over rows / 64, y over tokens / 64.

#import matmul_common

// 16 columns of 64 rows and of 64 tokens: [column / 4, row or token], four columns per vector.
var<workgroup> w_tile: array<vec4<f32>, 256>;
var<workgroup> x_tile: array<vec4<f32>, 256>;

// Four columns of four rows with one token.
fn dots(w: array<vec4<f32>, 4>, x: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(dot(w[0], x), dot(w[1], x), dot(w[2], x), dot(w[3], x));
}

// Every eighth row of W in the tile from `at` on.
fn four_rows(at: u32) -> array<vec4<f32>, 4> {
    return array<vec4<f32>, 4>(w_tile[at], w_tile[at + 8u], w_tile[at + 16u], w_tile[at + 24u]);
}

// Adds the products of four columns, which begin at `k` in the tiles, of every eighth row from local.x on with every eighth token from
// local.y on.
fn add_products(k: u32, local: vec2<u32>, sums: ptr<function, array<vec4<f32>, 16>>) {
    let w_a = four_rows(k + local.x);
    let w_b = four_rows(k + local.x + 32u);
    let x0 = x_tile[k + local.y];
    (*sums)[0] += dots(w_a, x0);
    (*sums)[1] += dots(w_b, x0);
    let x1 = x_tile[k + local.y + 8u];
    (*sums)[2] += dots(w_a, x1);
    (*sums)[3] += dots(w_b, x1);
    let x2 = x_tile[k + local.y + 16u];
    (*sums)[4] += dots(w_a, x2);
    (*sums)[5] += dots(w_b, x2);
    let x3 = x_tile[k + local.y + 24u];
    (*sums)[6] += dots(w_a, x3);
    (*sums)[7] += dots(w_b, x3);
    let x4 = x_tile[k + local.y + 32u];
    (*sums)[8] += dots(w_a, x4);
    (*sums)[9] += dots(w_b, x4);
    let x5 = x_tile[k + local.y + 40u];
    (*sums)[10] += dots(w_a, x5);
    (*sums)[11] += dots(w_b, x5);
    let x6 = x_tile[k + local.y + 48u];
    (*sums)[12] += dots(w_a, x6);
    (*sums)[13] += dots(w_b, x6);
    let x7 = x_tile[k + local.y + 56u];
    (*sums)[14] += dots(w_a, x7);
    (*sums)[15] += dots(w_b, x7);
}

@compute @workgroup_size(8, 8)
fn main(
    @builtin(workgroup_id) tile: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    // This invocation loads a group of one row, and four columns of every sixteenth token.
    let w_at = row_at(p.w_first + min(tile.x * 64u + index, p.rows - 1u));
    let loaded = tile.y * 64u + index / 4u + vec4<u32>(0u, 16u, 32u, 48u);
    var x_at = (p.x_first + min(loaded, vec4<u32>(p.n - 1u))) * p.x_stride + index % 4u;
    let to = index % 4u * 64u + index / 4u;
    // Eight tokens; of each, rows local.x + 8 r and then local.x + 32 + 8 r.
    var sums: array<vec4<f32>, 16>;
    for (var g = 0u; g < p.groups; g++) {
        let group = group_at(w_at, g / 4u, g % 4u);
        let w0 = four(group, 0u);
        let w1 = four(group, 1u);
        let w2 = four(group, 2u);
        let w3 = four(group, 3u);
        let x0 = x[x_at.x];
        let x1 = x[x_at.y];
        let x2 = x[x_at.z];
        let x3 = x[x_at.w];
        x_at += 4u;
        workgroupBarrier();
        w_tile[index] = w0;
        w_tile[index + 64u] = w1;
        w_tile[index + 128u] = w2;
        w_tile[index + 192u] = w3;
        x_tile[to] = x0;
        x_tile[to + 16u] = x1;
        x_tile[to + 32u] = x2;
        x_tile[to + 48u] = x3;
        workgroupBarrier();
        // Written out: Firefox guards loops against not ending, for a fifth of the instructions that NVIDIA's compiler makes here.
        add_products(0u, local.xy, &sums);
        add_products(64u, local.xy, &sums);
        add_products(128u, local.xy, &sums);
        add_products(192u, local.xy, &sums);
    }
    let rows = tile.x * 64u + local.x + vec4<u32>(0u, 8u, 16u, 24u);
    let token = tile.y * 64u + local.y;
    store(token, rows, sums[0]);
    store(token, rows + 32u, sums[1]);
    store(token + 8u, rows, sums[2]);
    store(token + 8u, rows + 32u, sums[3]);
    store(token + 16u, rows, sums[4]);
    store(token + 16u, rows + 32u, sums[5]);
    store(token + 24u, rows, sums[6]);
    store(token + 24u, rows + 32u, sums[7]);
    store(token + 32u, rows, sums[8]);
    store(token + 32u, rows + 32u, sums[9]);
    store(token + 40u, rows, sums[10]);
    store(token + 40u, rows + 32u, sums[11]);
    store(token + 48u, rows, sums[12]);
    store(token + 48u, rows + 32u, sums[13]);
    store(token + 56u, rows, sums[14]);
    store(token + 56u, rows + 32u, sums[15]);
}
