// matmul with workgroup memory. A workgroup computes 64 rows x 64 tokens from tiles, each invocation ROWS x TOKENS: 8 x 8, 8 x 4 or 4 x
// 4. All shapes sum in the same order.
// Dispatch: x over rows / 64, y over tokens / 64.

#import matmul_common

// Distance between the rows of an invocation, and between its tokens: it has every 8th or every 16th of the tile.
const ROW_STEP = 64u / ROWS;
const TOKEN_STEP = 64u / TOKENS;
// Vectors of W that an invocation loads into its tile, and of x likewise.
const LOADS = ROWS * TOKENS / 16u;

// 16 columns of 64 rows and of 64 tokens: [column / 4, row or token], four columns per vector.
var<workgroup> w_tile: array<vec4<f32>, 256>;
var<workgroup> x_tile: array<vec4<f32>, 256>;

// Products of four columns of four rows with one token.
fn dots(w: array<vec4<f32>, 4>, x: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(dot(w[0], x), dot(w[1], x), dot(w[2], x), dot(w[3], x));
}

// Four rows of an invocation in the tile, starting at `at`.
fn four_rows(at: u32) -> array<vec4<f32>, 4> {
    return array<vec4<f32>, 4>(w_tile[at], w_tile[at + ROW_STEP], w_tile[at + 2u * ROW_STEP], w_tile[at + 3u * ROW_STEP]);
}

// Adds the products of four columns, at `k` in the tiles: rows starting at local.x with tokens starting at local.y.
fn add_products(k: u32, local: vec2<u32>, sums: ptr<function, array<vec4<f32>, 16>>) {
    let w_a = four_rows(k + local.x);
    let x0 = x_tile[k + local.y];
    let x1 = x_tile[k + local.y + TOKEN_STEP];
    let x2 = x_tile[k + local.y + 2u * TOKEN_STEP];
    let x3 = x_tile[k + local.y + 3u * TOKEN_STEP];
    (*sums)[0] += dots(w_a, x0);
    (*sums)[2] += dots(w_a, x1);
    (*sums)[4] += dots(w_a, x2);
    (*sums)[6] += dots(w_a, x3);
    if ROWS == 8u {
        let w_b = four_rows(k + local.x + 32u);
        (*sums)[1] += dots(w_b, x0);
        (*sums)[3] += dots(w_b, x1);
        (*sums)[5] += dots(w_b, x2);
        (*sums)[7] += dots(w_b, x3);
        if TOKENS == 8u {
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
    }
}

@compute @workgroup_size(ROW_STEP, TOKEN_STEP)
fn main(
    @builtin(workgroup_id) tile: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    // This invocation loads one row's group or a part of it, and four columns of one or more tokens.
    let row = index % 64u;
    var first = 0u;
    if LOADS < 4u {
        first = index / 64u * LOADS;
    }
    let w_at = row_at(p.w_first + min(tile.x * 64u + row, p.rows - 1u));
    let loaded = tile.y * 64u + index / 4u + vec4<u32>(0u, 1u, 2u, 3u) * (64u / LOADS);
    var x_at = (p.x_first + min(loaded, vec4<u32>(p.n - 1u))) * p.x_stride + index % 4u;
    let w_to = first * 64u + row;
    let x_to = index % 4u * 64u + index / 4u;
    // For each token: rows local.x + ROW_STEP r, then the rows 32 further on.
    var sums: array<vec4<f32>, 16>;
    for (var g = 0u; g < p.groups; g++) {
        let group = group_at(w_at, g / 4u, g % 4u);
        let w0 = four(group, first);
        let x0 = x[x_at.x];
        var w1: vec4<f32>;
        var x1: vec4<f32>;
        var w2: vec4<f32>;
        var x2: vec4<f32>;
        var w3: vec4<f32>;
        var x3: vec4<f32>;
        if LOADS >= 2u {
            w1 = four(group, first + 1u);
            x1 = x[x_at.y];
        }
        if LOADS == 4u {
            w2 = four(group, 2u);
            x2 = x[x_at.z];
            w3 = four(group, 3u);
            x3 = x[x_at.w];
        }
        x_at += 4u;
        workgroupBarrier();
        w_tile[w_to] = w0;
        x_tile[x_to] = x0;
        if LOADS >= 2u {
            w_tile[w_to + 64u] = w1;
            x_tile[x_to + 64u / LOADS] = x1;
        }
        if LOADS == 4u {
            w_tile[w_to + 128u] = w2;
            x_tile[x_to + 32u] = x2;
            w_tile[w_to + 192u] = w3;
            x_tile[x_to + 48u] = x3;
        }
        workgroupBarrier();
        // Unrolled by hand: Firefox adds a loop guard, which costs a fifth of the instructions that NVIDIA's compiler emits here.
        add_products(0u, local.xy, &sums);
        add_products(64u, local.xy, &sums);
        add_products(128u, local.xy, &sums);
        add_products(192u, local.xy, &sums);
    }
    let rows = tile.x * 64u + local.x + vec4<u32>(0u, 1u, 2u, 3u) * ROW_STEP;
    let token = tile.y * 64u + local.y;
    store(token, rows, sums[0]);
    store(token + TOKEN_STEP, rows, sums[2]);
    store(token + 2u * TOKEN_STEP, rows, sums[4]);
    store(token + 3u * TOKEN_STEP, rows, sums[6]);
    if ROWS == 8u {
        store(token, rows + 32u, sums[1]);
        store(token + TOKEN_STEP, rows + 32u, sums[3]);
        store(token + 2u * TOKEN_STEP, rows + 32u, sums[5]);
        store(token + 3u * TOKEN_STEP, rows + 32u, sums[7]);
    }
    if TOKENS == 8u {
        store(token + 32u, rows, sums[8]);
        store(token + 32u, rows + 32u, sums[9]);
        store(token + 40u, rows, sums[10]);
        store(token + 40u, rows + 32u, sums[11]);
        store(token + 48u, rows, sums[12]);
        store(token + 48u, rows + 32u, sums[13]);
        store(token + 56u, rows, sums[14]);
        store(token + 56u, rows + 32u, sums[15]);
    }
}
