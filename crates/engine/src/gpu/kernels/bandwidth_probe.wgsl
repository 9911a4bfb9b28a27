// Measures memory reads: y[i] = sum of all components of x[i], x[i + n], x[i + 2 n], ..
// x: [length, 4], y: [n].
// Dispatch: x over n.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n {
        return;
    }
    var sum = vec4(0.0);
    for (var at = id.x; at < p.length; at += p.n) {
        sum += x[at];
    }
    y[id.x] = dot(sum, vec4(1.0));
}
