// matmul for one token with workgroup memory. Each invocation computes some columns of two rows, which are p.second rows apart.
// If NORMED is set, multiplies W by RMSNorm(x) with the weights norm: [dim], padded. If GATED is set, y is the gate of the first row's
// product times the second row's product, as in swiglu.
// Dispatch: x over rows / 16, or gates / 8; y over tokens.

#import matmul_common
#import gate

@group(0) @binding(4) var<storage, read> norm: array<vec4<f32>>;

// Sums of two rows, and the sum of the squares of x.
var<workgroup> sums: array<vec3<f32>, WIDTH>;

// Sums of one invocation; every fourth column has its own component.
struct Sums {
    a: vec4<f32>,
    b: vec4<f32>,
    squares: vec4<f32>,
}

// The `i`-th vector of the row of x at `x_at`. If NORMED, multiplied by the norm's weights; the common factor of RMSNorm is applied at
// the end.
fn values(x_at: u32, i: u32, sum: ptr<function, Sums>) -> vec4<f32> {
    let own = x[x_at + i];
    if NORMED {
        (*sum).squares += own * own;
        return norm[i] * own;
    }
    return own;
}

// Adds the products of one group of each of two rows of W with x, starting at vector `i` of its row.
fn add_products(a: Group, b: Group, x_at: u32, i: u32, sum: ptr<function, Sums>) {
    let x0 = values(x_at, i, sum);
    (*sum).a = fma(four(a, 0u), x0, (*sum).a);
    (*sum).b = fma(four(b, 0u), x0, (*sum).b);
    let x1 = values(x_at, i + 1u, sum);
    (*sum).a = fma(four(a, 1u), x1, (*sum).a);
    (*sum).b = fma(four(b, 1u), x1, (*sum).b);
    let x2 = values(x_at, i + 2u, sum);
    (*sum).a = fma(four(a, 2u), x2, (*sum).a);
    (*sum).b = fma(four(b, 2u), x2, (*sum).b);
    let x3 = values(x_at, i + 3u, sum);
    (*sum).a = fma(four(a, 3u), x3, (*sum).a);
    (*sum).b = fma(four(b, 3u), x3, (*sum).b);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = group_id.x * select(16u, 8u, GATED) + local % 8u;
    let w_at = rows_at(row + vec4<u32>(0u, p.second, 0u, 0u));
    let x_at = (p.x_first + group_id.y) * p.x_stride;
    let lane = local / 8u;
    let quads = p.groups / 4u;
    var sum = Sums();
    // Handle four groups per step, because they may share the data of their scales.
    for (var quad = lane; quad < quads; quad += WIDTH / 8u) {
        let i = 16u * quad;
        add_products(group_at(w_at.x, quad, 0u), group_at(w_at.y, quad, 0u), x_at, i, &sum);
        add_products(group_at(w_at.x, quad, 1u), group_at(w_at.y, quad, 1u), x_at, i + 4u, &sum);
        add_products(group_at(w_at.x, quad, 2u), group_at(w_at.y, quad, 2u), x_at, i + 8u, &sum);
        add_products(group_at(w_at.x, quad, 3u), group_at(w_at.y, quad, 3u), x_at, i + 12u, &sum);
    }
    // Handle the remaining groups.
    if lane < p.groups % 4u {
        add_products(group_at(w_at.x, quads, lane), group_at(w_at.y, quads, lane), x_at, 16u * quads + 4u * lane, &sum);
    }
    let one = vec4<f32>(1.0);
    sums[local] = vec3<f32>(dot(sum.a, one), dot(sum.b, one), dot(sum.squares, one));
    for (var half = WIDTH / 2u; half >= 8u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            sums[local] += sums[local + half];
        }
    }
    if local < 8u {
        var products = sums[local].xy;
        if NORMED {
            products *= inverseSqrt(sums[local].z / f32(p.dim) + p.epsilon);
        }
        if !GATED {
            store(group_id.y, vec4<u32>(row, row + p.second, p.rows, p.rows), vec4<f32>(products, 0.0, 0.0));
        } else if row < p.second {
            y[(p.y_first + group_id.y) * p.y_stride + row] = gated(products.x) * products.y;
        }
    }
}
