// Finds the largest value of each slice and its first index. Slice i has every N_SLICES-th value, starting at i.
// values: [n]; slices: [N_SLICES] of (bits of the largest value, index). If a slice contains an infinity or NaN, its largest value is
// infinity.
// Dispatch: one invocation per slice.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> slices: array<vec2<u32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= N_SLICES {
        return;
    }
    var largest = -3.4e38;
    var index = 0xffffffffu;
    var is_finite = true;
    for (var i = id.x; i < p.n; i += N_SLICES) {
        // Test the bits, because compilers may assume that no value is NaN.
        is_finite &= (bitcast<u32>(values[i]) & 0x7f800000u) != 0x7f800000u;
        if values[i] > largest {
            largest = values[i];
            index = i;
        }
    }
    slices[id.x] = vec2<u32>(select(0x7f800000u, bitcast<u32>(largest), is_finite), index);
}
