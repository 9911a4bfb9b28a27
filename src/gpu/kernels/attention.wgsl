// y[r, h] = sum over s of softmax(q[r, h] . k[s] / sqrt(head_dim)) v[s], over the shared slots of row r and its own ones.
// qkv: [n, q_stride], queries first; shared, own: [slots, key and value, n_kv_heads, VECS vec4]; y: [n, y_stride].
// The softmax keeps a running maximum (Milakov and Gimelshein 2018), so no score is stored.
// Dispatch: one invocation a head; x over heads, y over rows.

#import attention_params

var<private> q: array<vec4<f32>, VECS>;
var<private> sum: array<vec4<f32>, VECS>;
var<private> largest: f32;
var<private> total: f32;

// What a slot's score weighs from now on; what was summed before shrinks where it is the new maximum.
fn weigh(score: f32) -> f32 {
    if score > largest {
        let shrink = exp(largest - score);
        for (var i = 0u; i < VECS; i++) {
            sum[i] *= shrink;
        }
        total *= shrink;
        largest = score;
    }
    let weight = exp(score - largest);
    total += weight;
    return weight;
}

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n_heads || id.y >= p.n {
        return;
    }
    let row = rows[p.first + id.y];
    let q_at = id.y * p.q_stride + id.x * p.head_dim;
    for (var i = 0u; i < p.head_dim; i++) {
        q[i / 4u][i % 4u] = qkv[q_at + i] * p.scale;
    }
    largest = -1e30;
    let kv_head = id.x / (p.n_heads / p.n_kv_heads) * VECS;
    let vecs = p.n_kv_heads * VECS;
    for (var slot = 0u; slot < row.shared_end; slot++) {
        let key = 2u * slot * vecs + kv_head;
        var score = 0.0;
        for (var i = 0u; i < VECS; i++) {
            score += dot(q[i], shared_cache[key + i]);
        }
        let weight = weigh(score);
        for (var i = 0u; i < VECS; i++) {
            sum[i] += weight * shared_cache[key + vecs + i];
        }
    }
    for (var slot = row.own_first; slot < row.own_end; slot++) {
        let key = 2u * slot * vecs + kv_head;
        var score = 0.0;
        for (var i = 0u; i < VECS; i++) {
            score += dot(q[i], own_cache[key + i]);
        }
        let weight = weigh(score);
        for (var i = 0u; i < VECS; i++) {
            sum[i] += weight * own_cache[key + vecs + i];
        }
    }
    let y_at = id.y * p.y_stride + id.x * p.head_dim;
    for (var i = 0u; i < p.head_dim; i++) {
        y[y_at + i] = sum[i / 4u][i % 4u] / total;
    }
}
