// rms_norm with workgroup memory: one workgroup per row.

#import rms_norm_common
#import reduce

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = group.x;
    let from_x = (p.first + row) * p.stride;
    var sum = 0.0;
    for (var i = local; i < p.dim; i += WIDTH) {
        let value = x[from_x + i];
        sum += value * value;
    }
    let scale = inverseSqrt(sum_of_all(local, sum) / f32(p.dim) + p.epsilon);
    for (var i = local; i < p.dim; i += WIDTH) {
        store((p.y_first + row) * p.stride + i, weight[i] * (x[from_x + i] * scale));
    }
}
