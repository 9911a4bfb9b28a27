// matmul for one token with workgroup memory. A workgroup computes 8 pairs of rows, which are p.second rows apart: 16 rows of W. Each
// invocation computes a 16th of the columns of ROWS of them: 1, 2 or 4. All shapes sum in the same order.
// If NORMED is set, multiplies W by RMSNorm(x) with the weights norm: [dim], padded. If GATED is set, y is the gate of the product of a
// pair's first row times the product of its second row, as in swiglu.
// Dispatch: x over rows / 16, or gates / 8; y over tokens.

#import matmul_common
#import gate

@group(0) @binding(4) var<storage, read> norm: array<vec4<f32>>;

// Invocations that compute the same columns.
const SLOTS = 16u / ROWS;
const LANES = 16u;
const WIDTH = SLOTS * LANES;

// Sums of up to four rows, and the sum of the squares of x, of each invocation.
var<workgroup> sums: array<vec4<f32>, WIDTH>;
var<workgroup> squares: array<f32, WIDTH>;

// Sums of one invocation; every fourth column has its own component.
struct Sums {
    a: vec4<f32>,
    b: vec4<f32>,
    c: vec4<f32>,
    d: vec4<f32>,
    squares: vec4<f32>,
}

// The same group of each row of an invocation.
struct Groups {
    a: Group,
    b: Group,
    c: Group,
    d: Group,
}

fn groups_at(w_at: vec4<u32>, quad: u32, i: u32) -> Groups {
    var groups: Groups;
    groups.a = group_at(w_at.x, quad, i);
    if ROWS >= 2u {
        groups.b = group_at(w_at.y, quad, i);
    }
    if ROWS == 4u {
        groups.c = group_at(w_at.z, quad, i);
        groups.d = group_at(w_at.w, quad, i);
    }
    return groups;
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

// Adds the products of four columns of each row.
fn add_four(groups: Groups, j: u32, x: vec4<f32>, sum: ptr<function, Sums>) {
    (*sum).a = fma(four(groups.a, j), x, (*sum).a);
    if ROWS >= 2u {
        (*sum).b = fma(four(groups.b, j), x, (*sum).b);
    }
    if ROWS == 4u {
        (*sum).c = fma(four(groups.c, j), x, (*sum).c);
        (*sum).d = fma(four(groups.d, j), x, (*sum).d);
    }
}

// Adds the products of one group of each row with x, starting at vector `i` of its row.
fn add_products(groups: Groups, x_at: u32, i: u32, sum: ptr<function, Sums>) {
    let x0 = values(x_at, i, sum);
    add_four(groups, 0u, x0, sum);
    let x1 = values(x_at, i + 1u, sum);
    add_four(groups, 1u, x1, sum);
    let x2 = values(x_at, i + 2u, sum);
    add_four(groups, 2u, x2, sum);
    let x3 = values(x_at, i + 3u, sum);
    add_four(groups, 3u, x3, sum);
}

// The products of pair `pair`, after all but the last addition over the lanes.
fn pair_products(pair: u32) -> vec2<f32> {
    let slot = pair % SLOTS;
    let total = sums[slot] + sums[slot + SLOTS];
    if ROWS == 1u {
        return vec2<f32>(total.x, sums[slot + 8u].x + sums[slot + 8u + SLOTS].x);
    }
    return select(total.xy, total.zw, pair >= SLOTS);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let first = group_id.x * select(16u, 8u, GATED);
    let slot = local % SLOTS;
    let lane = local / SLOTS;
    // With one row each, invocations from the 9th on have the second rows of the pairs.
    let row = first + slot % 8u + slot / 8u * p.second;
    let w_at = rows_at(row + vec4<u32>(0u, p.second, SLOTS, SLOTS + p.second));
    let x_at = (p.x_first + group_id.y) * p.x_stride;
    let quads = p.groups / 4u;
    var sum = Sums();
    // Handle four groups per step, because they may share the data of their scales.
    for (var quad = lane; quad < quads; quad += LANES) {
        let i = 16u * quad;
        add_products(groups_at(w_at, quad, 0u), x_at, i, &sum);
        add_products(groups_at(w_at, quad, 1u), x_at, i + 4u, &sum);
        add_products(groups_at(w_at, quad, 2u), x_at, i + 8u, &sum);
        add_products(groups_at(w_at, quad, 3u), x_at, i + 12u, &sum);
    }
    // Handle the remaining groups.
    if lane < p.groups % 4u {
        add_products(groups_at(w_at, quads, lane), x_at, 16u * quads + 4u * lane, &sum);
    }
    let one = vec4<f32>(1.0);
    sums[local] = vec4<f32>(dot(sum.a, one), dot(sum.b, one), dot(sum.c, one), dot(sum.d, one));
    squares[local] = dot(sum.squares, one);
    for (var half = WIDTH / 2u; half > SLOTS; half /= 2u) {
        workgroupBarrier();
        if local < half {
            sums[local] += sums[local + half];
            squares[local] += squares[local + half];
        }
    }
    workgroupBarrier();
    if local < 8u {
        let pair = first + local;
        var products = pair_products(local);
        if NORMED {
            products *= inverseSqrt((squares[0] + squares[SLOTS]) / f32(p.dim) + p.epsilon);
        }
        if !GATED {
            store(group_id.y, vec4<u32>(pair, pair + p.second, p.rows, p.rows), vec4<f32>(products, 0.0, 0.0));
        } else if pair < p.second {
            y[(p.y_first + group_id.y) * p.y_stride + pair] = gated(products.x) * products.y;
        }
    }
}
