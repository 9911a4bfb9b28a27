// What all matmul kernels are given, and how they store.

struct Params {
    n: u32,
    // First row of x and of y.
    x_first: u32,
    y_first: u32,
    // Groups of 16 values in a row of W.
    groups: u32,
    // vec4 of a row of x, f32 of a row of y.
    x_stride: u32,
    y_stride: u32,
    // Rows of W: `rows` from `w_first` on; they become columns of y from `column` on.
    rows: u32,
    w_first: u32,
    column: u32,
    // 1: y is added to.
    add: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> weights: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

#import weights

// Four rows of W for one token; what lies past the end is left out.
fn store(token: u32, rows: vec4<u32>, values: vec4<f32>) {
    if token >= p.n {
        return;
    }
    let at = (p.y_first + token) * p.y_stride + p.column;
    for (var r = 0u; r < 4u; r++) {
        if rows[r] < p.rows {
            if p.add == 1u {
                y[at + rows[r]] += values[r];
            } else {
                y[at + rows[r]] = values[r];
            }
        }
    }
}

// `first` and the three after it.
fn next_four(first: u32) -> vec4<u32> {
    return vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u);
}
