// y[t, column + r] (+)= sum over k of x[t, k] W[r, k], in registers: 4 tokens x 4 rows an invocation, no barrier.
// W: [rows, 16 groups], x: [n, 4 x_stride], y: [n, y_stride].
// Dispatch: x over rows / 4, y over tokens / 4.

#import matmul_params

@compute @workgroup_size(WIDTH, HEIGHT)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x * 4u;
    let token = id.y * 4u;
    if row >= p.rows || token >= p.n {
        return;
    }
    // Past the end, the last row or token is computed again and not stored.
    let rows = next_four(row);
    let w_at = (p.w_first + min(rows, vec4<u32>(p.rows - 1u))) * p.groups;
    var x_at = (p.x_first + min(next_four(token), vec4<u32>(p.n - 1u))) * p.x_stride;
    var sum0 = vec4<f32>();
    var sum1 = vec4<f32>();
    var sum2 = vec4<f32>();
    var sum3 = vec4<f32>();
    for (var g = 0u; g < p.groups; g++) {
        let group0 = group_at(w_at.x + g);
        let group1 = group_at(w_at.y + g);
        let group2 = group_at(w_at.z + g);
        let group3 = group_at(w_at.w + g);
        for (var j = 0u; j < 4u; j++) {
            // One column of W a vector, so that each product is a multiple of a vector of four rows.
            let w0 = four(group0, j);
            let w1 = four(group1, j);
            let w2 = four(group2, j);
            let w3 = four(group3, j);
            let k0 = vec4<f32>(w0.x, w1.x, w2.x, w3.x);
            let k1 = vec4<f32>(w0.y, w1.y, w2.y, w3.y);
            let k2 = vec4<f32>(w0.z, w1.z, w2.z, w3.z);
            let k3 = vec4<f32>(w0.w, w1.w, w2.w, w3.w);
            let x0 = x[x_at.x];
            let x1 = x[x_at.y];
            let x2 = x[x_at.z];
            let x3 = x[x_at.w];
            sum0 += k0 * x0.x + k1 * x0.y + k2 * x0.z + k3 * x0.w;
            sum1 += k0 * x1.x + k1 * x1.y + k2 * x1.z + k3 * x1.w;
            sum2 += k0 * x2.x + k1 * x2.y + k2 * x2.z + k3 * x2.w;
            sum3 += k0 * x3.x + k1 * x3.y + k2 * x3.z + k3 * x3.w;
            x_at += 1u;
        }
    }
    store(token, rows, sum0);
    store(token + 1u, rows, sum1);
    store(token + 2u, rows, sum2);
    store(token + 3u, rows, sum3);
}
