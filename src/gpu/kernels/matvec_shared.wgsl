// matmul for one token with workgroup memory: each invocation computes some of the columns of two rows, the second of which is
// p.second rows after the first. Where GATED is set, y is the gate of the first times the second, as in swiglu.
// Dispatch: x over rows / 16, or gates / 8; y over tokens.

#import matmul_common
#import gate

var<workgroup> sums: array<vec2<f32>, WIDTH>;

// Adds the products of a group of each of two rows of W with the values of x from `at` on.
fn add_products(a: Group, b: Group, at: u32, sum: ptr<function, array<vec4<f32>, 2>>) {
    let x0 = x[at];
    (*sum)[0] = fma(four(a, 0u), x0, (*sum)[0]);
    (*sum)[1] = fma(four(b, 0u), x0, (*sum)[1]);
    let x1 = x[at + 1u];
    (*sum)[0] = fma(four(a, 1u), x1, (*sum)[0]);
    (*sum)[1] = fma(four(b, 1u), x1, (*sum)[1]);
    let x2 = x[at + 2u];
    (*sum)[0] = fma(four(a, 2u), x2, (*sum)[0]);
    (*sum)[1] = fma(four(b, 2u), x2, (*sum)[1]);
    let x3 = x[at + 3u];
    (*sum)[0] = fma(four(a, 3u), x3, (*sum)[0]);
    (*sum)[1] = fma(four(b, 3u), x3, (*sum)[1]);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = group_id.x * select(16u, 8u, GATED) + local % 8u;
    let w_at = rows_at(row + vec4<u32>(0u, p.second, 0u, 0u));
    let x_at = (p.x_first + group_id.y) * p.x_stride;
    let lane = local / 8u;
    let quads = p.groups / 4u;
    // Every fourth column of each row by itself.
    var sum = array<vec4<f32>, 2>();
    // Four groups in a step: they may share what their scales are computed from.
    for (var quad = lane; quad < quads; quad += WIDTH / 8u) {
        let at = x_at + 16u * quad;
        add_products(group_at(w_at.x, quad, 0u), group_at(w_at.y, quad, 0u), at, &sum);
        add_products(group_at(w_at.x, quad, 1u), group_at(w_at.y, quad, 1u), at + 4u, &sum);
        add_products(group_at(w_at.x, quad, 2u), group_at(w_at.y, quad, 2u), at + 8u, &sum);
        add_products(group_at(w_at.x, quad, 3u), group_at(w_at.y, quad, 3u), at + 12u, &sum);
    }
    // Groups that fill no step.
    if lane < p.groups % 4u {
        add_products(group_at(w_at.x, quads, lane), group_at(w_at.y, quads, lane), x_at + 16u * quads + 4u * lane, &sum);
    }
    sums[local] = vec2<f32>(dot(sum[0], vec4<f32>(1.0)), dot(sum[1], vec4<f32>(1.0)));
    for (var half = WIDTH / 2u; half >= 8u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            sums[local] += sums[local + half];
        }
    }
    if local < 8u {
        let products = sums[local];
        if !GATED {
            store(group_id.y, vec4<u32>(row, row + p.second, p.rows, p.rows), vec4<f32>(products, 0.0, 0.0));
        } else if row < p.second {
            y[(p.y_first + group_id.y) * p.y_stride + row] = gated(products.x) * products.y;
        }
    }
}
