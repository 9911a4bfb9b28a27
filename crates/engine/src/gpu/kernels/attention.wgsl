// Attention: y[r, h] = sum over s of softmax(scale q[r, h] . k[s]) v[s], over the slots of text and suffix that row r attends to.
// qkv: [n, q_stride], queries first; text_cache, suffix_cache: [slots, key and value, n_kv_heads, VECS vec4]; y: [n, y_stride].
// Dispatch: one invocation per head; x over heads, y over rows.

#import attention_common
#import attention_query
#import online_softmax

@group(0) @binding(4) var<storage, read> suffix_cache: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

var<private> sum: array<vec4<f32>, VECS>;

fn suffix_score(key: u32) -> f32 {
    var score = 0.0;
    for (var i = 0u; i < VECS; i++) {
        score += dot(q[i], suffix_cache[key + i]);
    }
    return score;
}

// Weight of the next slot. Rescales the current sum to the new maximum.
fn next_weight(score: f32) -> f32 {
    let factor = rescale(score);
    if factor < 1.0 {
        for (var i = 0u; i < VECS; i++) {
            sum[i] *= factor;
        }
    }
    return weigh(score);
}

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n_heads || id.y >= p.n {
        return;
    }
    let row = rows[p.first + id.y];
    load_query(id.y, id.x);
    let kv_head = kv_head_of(id.x);
    let seen = first_seen(row);
    for (var slot = seen; slot < row.prefix_end; slot++) {
        let key = key_at(slot, kv_head);
        let weight = next_weight(text_score(key));
        for (var i = 0u; i < VECS; i++) {
            sum[i] += weight * text_cache[key + value_offset() + i];
        }
    }
    // Suffix slots continue the positions of the text.
    for (var slot = row.suffix_start + max(seen, row.prefix_end) - row.prefix_end; slot < row.suffix_end; slot++) {
        let key = key_at(slot, kv_head);
        let weight = next_weight(suffix_score(key));
        for (var i = 0u; i < VECS; i++) {
            sum[i] += weight * suffix_cache[key + value_offset() + i];
        }
    }
    let y_at = id.y * p.y_stride + id.x * p.head_dim;
    for (var i = 0u; i < p.head_dim; i++) {
        y[y_at + i] = sum[i / 4u][i % 4u] / total;
    }
}
