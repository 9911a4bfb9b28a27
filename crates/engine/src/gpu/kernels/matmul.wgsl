// Matrix product y[t, column + r] (+)= sum over k of x[t, k] W[r, k], in registers without barriers. Each invocation computes 4 tokens x
// 8 rows: loads cost more than arithmetic here, and a row of W needs fewer loads than a token.
// W: [rows, 16 groups], x: [n, 4 x_stride], y: [n, y_stride].
// Dispatch: x over rows / 8, y over tokens / 4.

#import matmul_common

// Products of one row of W with four tokens.
fn dots(w: vec4<f32>, x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(dot(w, x0), dot(w, x1), dot(w, x2), dot(w, x3));
}

@compute @workgroup_size(WIDTH, HEIGHT)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x * 8u;
    let token = id.y * 4u;
    if row >= p.rows || token >= p.n {
        return;
    }
    // Past the end, the last row or token is computed again and not stored.
    let rows_a = next_four(row);
    let rows_b = next_four(row + 4u);
    let at_a = rows_at(rows_a);
    let at_b = rows_at(rows_b);
    var x_at = (p.x_first + min(next_four(token), vec4<u32>(p.n - 1u))) * p.x_stride;
    // One sum per row. Component t belongs to token `token + t`.
    var sum0 = vec4<f32>();
    var sum1 = vec4<f32>();
    var sum2 = vec4<f32>();
    var sum3 = vec4<f32>();
    var sum4 = vec4<f32>();
    var sum5 = vec4<f32>();
    var sum6 = vec4<f32>();
    var sum7 = vec4<f32>();
    for (var g = 0u; g < p.groups; g++) {
        let group0 = group_at(at_a.x, g / 4u, g % 4u);
        let group1 = group_at(at_a.y, g / 4u, g % 4u);
        let group2 = group_at(at_a.z, g / 4u, g % 4u);
        let group3 = group_at(at_a.w, g / 4u, g % 4u);
        let group4 = group_at(at_b.x, g / 4u, g % 4u);
        let group5 = group_at(at_b.y, g / 4u, g % 4u);
        let group6 = group_at(at_b.z, g / 4u, g % 4u);
        let group7 = group_at(at_b.w, g / 4u, g % 4u);
        for (var j = 0u; j < 4u; j++) {
            let x0 = x[x_at.x];
            let x1 = x[x_at.y];
            let x2 = x[x_at.z];
            let x3 = x[x_at.w];
            sum0 += dots(four(group0, j), x0, x1, x2, x3);
            sum1 += dots(four(group1, j), x0, x1, x2, x3);
            sum2 += dots(four(group2, j), x0, x1, x2, x3);
            sum3 += dots(four(group3, j), x0, x1, x2, x3);
            sum4 += dots(four(group4, j), x0, x1, x2, x3);
            sum5 += dots(four(group5, j), x0, x1, x2, x3);
            sum6 += dots(four(group6, j), x0, x1, x2, x3);
            sum7 += dots(four(group7, j), x0, x1, x2, x3);
            x_at += 1u;
        }
    }
    store(token + 0u, rows_a, vec4<f32>(sum0.x, sum1.x, sum2.x, sum3.x));
    store(token + 0u, rows_b, vec4<f32>(sum4.x, sum5.x, sum6.x, sum7.x));
    store(token + 1u, rows_a, vec4<f32>(sum0.y, sum1.y, sum2.y, sum3.y));
    store(token + 1u, rows_b, vec4<f32>(sum4.y, sum5.y, sum6.y, sum7.y));
    store(token + 2u, rows_a, vec4<f32>(sum0.z, sum1.z, sum2.z, sum3.z));
    store(token + 2u, rows_b, vec4<f32>(sum4.z, sum5.z, sum6.z, sum7.z));
    store(token + 3u, rows_a, vec4<f32>(sum0.w, sum1.w, sum2.w, sum3.w));
    store(token + 3u, rows_b, vec4<f32>(sum4.w, sum5.w, sum6.w, sum7.w));
}
