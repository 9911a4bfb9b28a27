// Finds the largest value of all slices. Of equal values, chooses the lowest index.
// slices: [N_SLICES] of (bits of the largest value, index); chosen: [index, bits of the value].
// Dispatch: one invocation.

@group(0) @binding(0) var<storage, read> slices: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> chosen: array<u32>;

@compute @workgroup_size(1)
fn main() {
    var largest = bitcast<f32>(slices[0].x);
    var index = slices[0].y;
    for (var i = 1u; i < N_SLICES; i++) {
        let value = bitcast<f32>(slices[i].x);
        if value > largest || (value == largest && slices[i].y < index) {
            largest = value;
            index = slices[i].y;
        }
    }
    chosen[0] = index;
    chosen[1] = bitcast<u32>(largest);
}
