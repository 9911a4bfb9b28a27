// RMSNorm in place, over all query heads together and over all key heads: part[i] = weight[i] part[i] / sqrt(mean(part^2) + epsilon).
// qkv: [n, stride], each row starting with q_width queries and k_width keys; weight: [q_width + k_width].
// Dispatch: one invocation per part; x over queries and keys, y over rows.

#import qk_norm_common

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= 2u || id.y >= p.n {
        return;
    }
    let columns = columns_of(id.x);
    let at = id.y * p.stride;
    var sum = 0.0;
    for (var i = columns.x; i < columns.y; i++) {
        sum += qkv[at + i] * qkv[at + i];
    }
    let scale = inverseSqrt(sum / f32(columns.y - columns.x) + p.epsilon);
    for (var i = columns.x; i < columns.y; i++) {
        qkv[at + i] = weight[i] * (qkv[at + i] * scale);
    }
}
