// Stores the convolution input of each row in its cache slot: cache[slot(r), c] = x[r, c], times x[r, factor + c] if PRODUCT is set.
// x: [n, stride]; cache: [ring, channels]. Rows reuse the ring's slots in turn; the last row of a slot is stored.
// Dispatch: x over channels, y over rows.

#import params
#import row

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> cache: array<f32>;

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.channels || id.y >= p.n || id.y + p.ring < p.n {
        return;
    }
    let at = id.y * p.stride + id.x;
    var value = x[at];
    if PRODUCT {
        value *= x[at + p.factor];
    }
    cache[rows[p.first + id.y].slot % p.ring * p.channels + id.x] = value;
}
