// The token embedding: x[first + r] = (1 - share) W[token] of row r; where `other` is set, + share W[other].
// weights: [slab_rows, 16 groups], x: [.., stride].
// Dispatch: one invocation for 16 values; x over groups, y over rows.

struct Params {
    n: u32,
    first: u32,
    groups: u32,
    // f32 of a row of x.
    stride: u32,
    // Rows of the matrix in this slab.
    slab_first: u32,
    slab_end: u32,
    // Whether to add the other token's part; after the token's.
    other: u32,
}

#import row

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> weights: array<u32>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;

#import weights

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.groups || id.y >= p.n {
        return;
    }
    let row = rows[p.first + id.y];
    let is_other = p.other > 0u;
    let token = select(row.token, row.other, is_other);
    if token < p.slab_first || token >= p.slab_end || (is_other && row.share == 0.0) {
        return;
    }
    let part = select(1.0 - row.share, row.share, is_other);
    let group = group_at((token - p.slab_first) * p.groups + id.x);
    let at = (p.first + id.y) * p.stride + id.x * 16u;
    for (var j = 0u; j < 4u; j++) {
        let values = part * four(group, j);
        for (var i = 0u; i < 4u; i++) {
            x[at + 4u * j + i] = values[i] + select(0.0, x[at + 4u * j + i], is_other);
        }
    }
}
