// attention for GPUs: a workgroup a head, one slot an invocation at a time.
// Dispatch: x over heads, y over rows.

#import attention_params
#import reduce

// The query, padded with zeros.
var<workgroup> q: array<f32, Q_LENGTH>;
// Scores, then weights, of the slots at hand.
var<workgroup> weights: array<f32, WIDTH>;
// Parts of the sum, one for each invocation: [parts, VECS].
var<workgroup> sums: array<vec4<f32>, WIDTH>;

// The invocations divide the slots of a tile among PARTS and the output among VECS.
const PARTS = WIDTH / VECS;

// A slot of the text counted first, then those of the row's own suffix: its key, from `row`'s point of view.
struct Place {
    at: u32,
    is_shared: bool,
}

fn place(row: Row, index: u32) -> Place {
    let is_shared = index < row.shared_end;
    let slot = select(row.own_first + index - row.shared_end, index, is_shared);
    return Place(2u * slot * p.n_kv_heads * VECS, is_shared);
}

fn load(place: Place, offset: u32) -> vec4<f32> {
    if place.is_shared {
        return shared_cache[place.at + offset];
    }
    return own_cache[place.at + offset];
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = rows[p.first + id.y];
    let q_at = id.y * p.q_stride + id.x * p.head_dim;
    for (var i = local; i < Q_LENGTH; i += WIDTH) {
        q[i] = select(0.0, qkv[q_at + min(i, p.head_dim - 1u)] * p.scale, i < p.head_dim);
    }
    let n_slots = row.shared_end + row.own_end - row.own_first;
    let key_offset = id.x / (p.n_heads / p.n_kv_heads) * VECS;
    let value_offset = key_offset + p.n_kv_heads * VECS;
    let part = local / VECS;
    var largest = -1e30;
    var total = 0.0;
    var sum = vec4<f32>();
    for (var first = 0u; first < n_slots; first += WIDTH) {
        workgroupBarrier();
        var score = -1e30;
        if first + local < n_slots {
            score = 0.0;
            let key = place(row, first + local);
            for (var i = 0u; i < VECS; i++) {
                let from_q = vec4<f32>(q[4u * i], q[4u * i + 1u], q[4u * i + 2u], q[4u * i + 3u]);
                score += dot(from_q, load(key, key_offset + i));
            }
        }
        let largest_now = max(largest, max_of_all(local, score));
        let weight = select(0.0, exp(score - largest_now), first + local < n_slots);
        weights[local] = weight;
        workgroupBarrier();
        let shrink = exp(largest - largest_now);
        largest = largest_now;
        total = total * shrink + weight;
        sum *= shrink;
        if part < PARTS {
            for (var i = part; i < min(WIDTH, n_slots - first); i += PARTS) {
                sum += weights[i] * load(place(row, first + i), value_offset + local % VECS);
            }
        }
    }
    // Weights were summed by slot, values by part: both come together.
    sums[local] = sum;
    let total_of_all = sum_of_all(local, total);
    if local < VECS {
        var mixed = vec4<f32>();
        for (var i = 0u; i < PARTS; i++) {
            mixed += sums[i * VECS + local];
        }
        let y_at = id.y * p.y_stride + id.x * p.head_dim + 4u * local;
        for (var i = 0u; i < min(4u, p.head_dim - 4u * local); i++) {
            y[y_at + i] = mixed[i] / total_of_all;
        }
    }
}
