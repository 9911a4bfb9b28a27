// Measures arithmetic without reads. y[i] = sum of 32 numbers (initially 0 to 31) after `rounds` rounds of a = a s + i / n.
// y: [n].
// Dispatch: x over n.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n {
        return;
    }
    let s = vec4(p.s);
    let t = vec4(f32(id.x) / f32(p.n));
    var a = vec4(0.0, 1.0, 2.0, 3.0);
    var b = a + 4.0;
    var c = a + 8.0;
    var d = a + 12.0;
    var e = a + 16.0;
    var f = a + 20.0;
    var g = a + 24.0;
    var h = a + 28.0;
    for (var round = 0u; round < p.rounds; round += 1u) {
        a = fma(a, s, t);
        b = fma(b, s, t);
        c = fma(c, s, t);
        d = fma(d, s, t);
        e = fma(e, s, t);
        f = fma(f, s, t);
        g = fma(g, s, t);
        h = fma(h, s, t);
    }
    y[id.x] = dot(a + b + c + d + e + f + g + h, vec4(1.0));
}
