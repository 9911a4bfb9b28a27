// matmul for one token with workgroup memory: a workgroup computes 4 rows, each invocation some of the columns.
// Dispatch: x over rows / 4, y over tokens.

#import matmul_common

var<workgroup> sums: array<vec4<f32>, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = group_id.x * 4u;
    let rows = next_four(row);
    let w_at = (p.w_first + min(rows, vec4<u32>(p.rows - 1u))) * p.groups;
    let x_at = (p.x_first + group_id.y) * p.x_stride;
    var sum = vec4<f32>();
    for (var g = local; g < p.groups; g += WIDTH) {
        let group0 = group_at(w_at.x + g);
        let group1 = group_at(w_at.y + g);
        let group2 = group_at(w_at.z + g);
        let group3 = group_at(w_at.w + g);
        for (var j = 0u; j < 4u; j++) {
            let values = x[x_at + g * 4u + j];
            sum += vec4<f32>(
                dot(four(group0, j), values),
                dot(four(group1, j), values),
                dot(four(group2, j), values),
                dot(four(group3, j), values),
            );
        }
    }
    sums[local] = sum;
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            sums[local] += sums[local + half];
        }
    }
    if local == 0u {
        store(group_id.y, rows, sums[0]);
    }
}
