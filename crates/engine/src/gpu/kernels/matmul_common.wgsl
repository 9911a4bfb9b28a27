// Shared inputs and outputs of all matmul kernels, and how they store a product.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> weights: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

#import weights

// Addresses of four rows of W. Rows past the end use the last row.
fn rows_at(rows: vec4<u32>) -> vec4<u32> {
    let at = p.w_first + min(rows, vec4<u32>(p.rows - 1u));
    return vec4<u32>(row_at(at.x), row_at(at.y), row_at(at.z), row_at(at.w));
}

// Stores the products of four rows of W with one token. Skips rows and tokens past the end.
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

// `first` and the three numbers after it.
fn next_four(first: u32) -> vec4<u32> {
    return vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u);
}
