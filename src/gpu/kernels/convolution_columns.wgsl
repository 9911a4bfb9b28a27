// What a convolution reads of a row goes to the row's slot: cache[slot of row r, c] = x[r, c] x[r, factor + c].
// x: [n, stride], cache: [slots, channels].
// Dispatch: x over channels, y over rows.

#import params
#import row

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> cache: array<f32>;

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.channels || id.y >= p.n {
        return;
    }
    let at = id.y * p.stride + id.x;
    cache[rows[p.first + id.y].slot * p.channels + id.x] = x[at] * x[at + p.factor];
}
