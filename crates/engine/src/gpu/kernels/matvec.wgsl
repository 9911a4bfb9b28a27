// matmul for one token: 4 rows per invocation, no barrier.
// Dispatch: x over rows / 4, y over tokens.

#import matmul_common

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x * 4u;
    if row >= p.rows {
        return;
    }
    let rows = next_four(row);
    let w_at = rows_at(rows);
    var x_at = (p.x_first + id.y) * p.x_stride;
    var sum = vec4<f32>();
    for (var g = 0u; g < p.groups; g++) {
        let group0 = group_at(w_at.x, g / 4u, g % 4u);
        let group1 = group_at(w_at.y, g / 4u, g % 4u);
        let group2 = group_at(w_at.z, g / 4u, g % 4u);
        let group3 = group_at(w_at.w, g / 4u, g % 4u);
        for (var j = 0u; j < 4u; j++) {
            let values = x[x_at];
            sum += vec4<f32>(
                dot(four(group0, j), values),
                dot(four(group1, j), values),
                dot(four(group2, j), values),
                dot(four(group3, j), values),
            );
            x_at += 1u;
        }
    }
    store(id.y, rows, sum);
}
