// The best of the slices; the lowest index where several are as large.
// best: [PARTS] of (value's bits, index); chosen: [index, value's bits].
// Dispatch: one invocation.

@group(0) @binding(0) var<storage, read> best: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> chosen: array<u32>;

@compute @workgroup_size(1)
fn main() {
    var largest = bitcast<f32>(best[0].x);
    var index = best[0].y;
    for (var i = 1u; i < PARTS; i++) {
        let value = bitcast<f32>(best[i].x);
        if value > largest || (value == largest && best[i].y < index) {
            largest = value;
            index = best[i].y;
        }
    }
    chosen[0] = index;
    chosen[1] = bitcast<u32>(largest);
}
