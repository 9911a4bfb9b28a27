// Copies rows by index: y[r] = x[index[first + r]].
// x: [.., stride], y: [n, stride].
// Dispatch: x over values, y over rows.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> index: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < p.stride && id.y < p.n {
        y[id.y * p.stride + id.x] = x[index[p.first + id.y] * p.stride + id.x];
    }
}
