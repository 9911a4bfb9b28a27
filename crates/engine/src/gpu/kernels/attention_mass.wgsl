// Adds attention weight and flow to sums[t, h, r], for the row that predicts target t, over the slots s of range r.
// With alpha[s] = softmax(scale q[h] . k[s]) and the head output o[h]: weight = sum of alpha[s],
// flow = (max(0, sum of alpha[s] (v[s] . o[h])) / sum over heads of |o[h]|^2)^2. Rows of the text only: they attend to slots up to their
// own.
// qkv: [n, q_stride], queries first; text_cache: [slots, key and value, n_kv_heads, VECS vec4]; ranges: [n_ranges] of (start, end);
// outputs: [n, output_stride]; sums: [n_targets, n_heads, n_ranges] of (weight, flow).
// Dispatch: one invocation per head; x over heads, y over rows.

#import attention_common
#import attention_mass_common
#import attention_query
#import online_softmax

// Output of the head, padded with zeros.
var<private> o: array<vec4<f32>, VECS>;

// Loads the output of a head of row `r`. Returns the squared length of all head outputs.
fn load_output(r: u32, head: u32) -> f32 {
    let at = r * p.output_stride;
    var squares = 0.0;
    for (var i = 0u; i < p.n_heads * p.head_dim; i++) {
        squares += outputs[at + i] * outputs[at + i];
    }
    for (var i = 0u; i < p.head_dim; i++) {
        o[i / 4u][i % 4u] = outputs[at + head * p.head_dim + i];
    }
    return squares;
}

fn dot_with_output(value: u32) -> f32 {
    var sum = 0.0;
    for (var i = 0u; i < VECS; i++) {
        sum += dot(o[i], text_cache[value + i]);
    }
    return sum;
}

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n_heads || id.y >= p.n {
        return;
    }
    let row = rows[p.first + id.y];
    let target_index = target_of(row);
    if target_index >= p.n_targets {
        return;
    }
    load_query(id.y, id.x);
    let kv_head = kv_head_of(id.x);
    let seen = first_seen(row);
    for (var slot = seen; slot < row.prefix_end; slot++) {
        let score = text_score(key_at(slot, kv_head));
        rescale(score);
        weigh(score);
    }
    let squares = load_output(id.y, id.x);
    for (var r = 0u; r < p.n_ranges; r++) {
        // Sum of the weights, and sum of the weighted values projected on the output.
        var sum = vec2<f32>();
        for (var slot = max(ranges[r].x, seen); slot < min(ranges[r].y, row.prefix_end); slot++) {
            let key = key_at(slot, kv_head);
            sum += exp(text_score(key) - largest) * vec2(1.0, dot_with_output(key + value_offset()));
        }
        add(target_index, id.x, r, sum / total, squares);
    }
}
