// sums[t, h, r] += sum over s in range r of softmax(q[h] . k[s] / sqrt(head_dim)), in the row that predicts target t.
// qkv: [n, q_stride], queries first; text_cache: [slots, key and value, n_kv_heads, VECS vec4]; ranges: [n_ranges] of (start, end);
// sums: [n_targets, n_heads, n_ranges]. For rows of the text only: they attend to its slots up to their own.
// Dispatch: one invocation per head; x over heads, y over rows.

#import attention_common
#import attention_query
#import online_softmax

@group(0) @binding(4) var<storage, read> ranges: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> sums: array<f32>;

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n_heads || id.y >= p.n {
        return;
    }
    let row = rows[p.first + id.y];
    // For a row before the first target's, this wraps to a large number.
    let target_index = row.position + 1u - p.first_target;
    if target_index >= p.n_targets {
        return;
    }
    load_query(id.y, id.x);
    let kv_head = kv_head_of(id.x);
    for (var slot = 0u; slot < row.prefix_end; slot++) {
        let score = text_score(key_at(slot, kv_head));
        rescale(score);
        weigh(score);
    }
    for (var r = 0u; r < p.n_ranges; r++) {
        var sum = 0.0;
        for (var slot = ranges[r].x; slot < min(ranges[r].y, row.prefix_end); slot++) {
            sum += exp(text_score(key_at(slot, kv_head)) - largest);
        }
        sums[(target_index * p.n_heads + id.x) * p.n_ranges + r] += sum / total;
    }
}
