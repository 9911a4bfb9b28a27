// qk_norm with workgroup memory: one workgroup per part.
// Dispatch: x over queries and keys, y over rows.

#import qk_norm_common
#import reduce

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let columns = columns_of(id.x);
    let at = id.y * p.stride;
    var sum = 0.0;
    for (var i = columns.x + local; i < columns.y; i += WIDTH) {
        sum += qkv[at + i] * qkv[at + i];
    }
    let scale = inverseSqrt(sum_of_all(local, sum) / f32(columns.y - columns.x) + p.epsilon);
    for (var i = columns.x + local; i < columns.y; i += WIDTH) {
        qkv[at + i] = weight[i] * (qkv[at + i] * scale);
    }
}
