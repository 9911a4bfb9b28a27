// sums[t, h, r] += sum over s in range r of softmax(q[h] . k[s] / sqrt(head_dim)), in the row that predicts target t.
// qkv: [n, q_stride], queries first; text: [slots, key and value, n_kv_heads, VECS vec4]; ranges: [n_ranges] of (start, end);
// sums: [n_targets, n_heads, n_ranges]. Rows of the text only: they attend to its slots up to their own.
// Dispatch: one invocation a head; x over heads, y over rows.

struct Params {
    n: u32,
    first: u32,
    n_heads: u32,
    n_kv_heads: u32,
    head_dim: u32,
    q_stride: u32,
    scale: f32,
    first_target: u32,
    n_targets: u32,
    n_ranges: u32,
}

#import row

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> qkv: array<f32>;
@group(0) @binding(3) var<storage, read> text: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> ranges: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> sums: array<f32>;

var<private> q: array<vec4<f32>, VECS>;

fn score(slot: u32, kv_head: u32) -> f32 {
    let key = (2u * slot * p.n_kv_heads + kv_head) * VECS;
    var score = 0.0;
    for (var i = 0u; i < VECS; i++) {
        score += dot(q[i], text[key + i]);
    }
    return score;
}

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n_heads || id.y >= p.n {
        return;
    }
    let row = rows[p.first + id.y];
    // A row before the first target's gets a large number.
    let target_index = row.position + 1u - p.first_target;
    if target_index >= p.n_targets {
        return;
    }
    let q_at = id.y * p.q_stride + id.x * p.head_dim;
    for (var i = 0u; i < p.head_dim; i++) {
        q[i / 4u][i % 4u] = qkv[q_at + i] * p.scale;
    }
    let kv_head = id.x / (p.n_heads / p.n_kv_heads);
    var largest = -1e30;
    var total = 0.0;
    for (var slot = 0u; slot < row.shared_end; slot++) {
        let s = score(slot, kv_head);
        if s > largest {
            total *= exp(largest - s);
            largest = s;
        }
        total += exp(s - largest);
    }
    for (var r = 0u; r < p.n_ranges; r++) {
        var sum = 0.0;
        for (var slot = ranges[r].x; slot < min(ranges[r].y, row.shared_end); slot++) {
            sum += exp(score(slot, kv_head) - largest);
        }
        sums[(target_index * p.n_heads + id.x) * p.n_ranges + r] += sum / total;
    }
}
