// The largest of a slice of values and the first index it is at: slice i has every PARTS-th value from i on.
// values: [n]; best: [PARTS] of (value's bits, index).
// Where something is no finite number, the largest is infinity.
// Dispatch: one invocation a slice.

struct Params {
    n: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> best: array<vec2<u32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= PARTS {
        return;
    }
    var largest = -3.4e38;
    var index = 0xffffffffu;
    var is_finite = true;
    for (var i = id.x; i < p.n; i += PARTS) {
        // By its bits: a comparison may take a NaN for anything.
        is_finite &= (bitcast<u32>(values[i]) & 0x7f800000u) != 0x7f800000u;
        if values[i] > largest {
            largest = values[i];
            index = i;
        }
    }
    best[id.x] = vec2<u32>(select(0x7f800000u, bitcast<u32>(largest), is_finite), index);
}
