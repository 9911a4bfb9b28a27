// attention_mass with workgroup memory: one workgroup per head. Each invocation handles every WIDTH-th slot.
// Dispatch: x over heads, y over rows.

#import attention_common
#import attention_mass_common
#import online_softmax
#import reduce

// The scaled query of the head, and the output of the head, both padded with zeros.
var<workgroup> q: array<f32, Q_LENGTH>;
var<workgroup> o: array<f32, Q_LENGTH>;

// Returns the squared length of the outputs of all heads.
fn load_query_and_output(r: u32, head: u32, local: u32) -> f32 {
    let at = r * p.output_stride;
    var squares = 0.0;
    for (var i = local; i < p.n_heads * p.head_dim; i += WIDTH) {
        squares += outputs[at + i] * outputs[at + i];
    }
    for (var i = local; i < Q_LENGTH; i += WIDTH) {
        let from_head = head * p.head_dim + min(i, p.head_dim - 1u);
        q[i] = select(0.0, qkv[r * p.q_stride + from_head] * p.scale, i < p.head_dim);
        o[i] = select(0.0, outputs[at + from_head], i < p.head_dim);
    }
    return sum_of_all(local, squares);
}

fn text_score(key: u32) -> f32 {
    var score = 0.0;
    for (var i = 0u; i < VECS; i++) {
        score += dot(vec4<f32>(q[4u * i], q[4u * i + 1u], q[4u * i + 2u], q[4u * i + 3u]), text_cache[key + i]);
    }
    return score;
}

fn dot_with_output(value: u32) -> f32 {
    var sum = 0.0;
    for (var i = 0u; i < VECS; i++) {
        sum += dot(vec4<f32>(o[4u * i], o[4u * i + 1u], o[4u * i + 2u], o[4u * i + 3u]), text_cache[value + i]);
    }
    return sum;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = rows[p.first + id.y];
    let target_index = target_of(row);
    if target_index >= p.n_targets {
        return;
    }
    let squares = load_query_and_output(id.y, id.x, local);
    let kv_head = kv_head_of(id.x);
    let seen = first_seen(row);
    for (var slot = seen + local; slot < row.prefix_end; slot += WIDTH) {
        let score = text_score(key_at(slot, kv_head));
        rescale(score);
        weigh(score);
    }
    let top = max_of_all(local, largest);
    let total_of_all = sum_of_all(local, total * exp(largest - top));
    for (var r = 0u; r < p.n_ranges; r++) {
        // Sum of the weights, and sum of the weighted values projected on the output.
        var sum = vec2<f32>();
        for (var slot = max(ranges[r].x, seen) + local; slot < min(ranges[r].y, row.prefix_end); slot += WIDTH) {
            let key = key_at(slot, kv_head);
            sum += exp(text_score(key) - top) * vec2(1.0, dot_with_output(key + value_offset()));
        }
        let whole = vec2(sum_of_all(local, sum.x), sum_of_all(local, sum.y)) / total_of_all;
        if local == 0u {
            add(target_index, id.x, r, whole, squares);
        }
    }
}
