// attention with workgroup memory: one workgroup per head, its invocations take one slot each, WIDTH slots at a time.
// Dispatch: x over heads, y over rows.

#import attention_common
#import online_softmax
#import reduce

@group(0) @binding(4) var<storage, read> suffix_cache: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

// The query, padded with zeros.
var<workgroup> q: array<f32, Q_LENGTH>;
// Weights of the current WIDTH slots.
var<workgroup> weights: array<f32, WIDTH>;
// Partial sums of values, one for each invocation: [PARTS, VECS].
var<workgroup> sums: array<vec4<f32>, WIDTH>;

// To sum values, the invocations divide the current slots among PARTS and the output among VECS.
const PARTS = WIDTH / VECS;

// A slot's first vec4 in the cache that it is in.
struct Slot {
    at: u32,
    is_text: bool,
}

// Number `index` of the slots that a row would see without a window: those of the text first, then those of its suffix.
fn slot_at(row: Row, index: u32) -> Slot {
    let is_text = index < row.prefix_end;
    return Slot(key_at(select(row.suffix_start + index - row.prefix_end, index, is_text), 0u), is_text);
}

fn load(slot: Slot, offset: u32) -> vec4<f32> {
    if slot.is_text {
        return text_cache[slot.at + offset];
    }
    return suffix_cache[slot.at + offset];
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = rows[p.first + id.y];
    let q_at = id.y * p.q_stride + id.x * p.head_dim;
    for (var i = local; i < Q_LENGTH; i += WIDTH) {
        q[i] = select(0.0, qkv[q_at + min(i, p.head_dim - 1u)] * p.scale, i < p.head_dim);
    }
    let n_slots = row.prefix_end + row.suffix_end - row.suffix_start;
    let key_offset = key_at(0u, kv_head_of(id.x));
    let part = local / VECS;
    var sum = vec4<f32>();
    for (var first = first_seen(row); first < n_slots; first += WIDTH) {
        workgroupBarrier();
        var score = -1e30;
        if first + local < n_slots {
            score = 0.0;
            let slot = slot_at(row, first + local);
            for (var i = 0u; i < VECS; i++) {
                let from_q = vec4<f32>(q[4u * i], q[4u * i + 1u], q[4u * i + 2u], q[4u * i + 3u]);
                score += dot(from_q, load(slot, key_offset + i));
            }
        }
        sum *= rescale(max_of_all(local, score));
        weights[local] = 0.0;
        if first + local < n_slots {
            weights[local] = weigh(score);
        }
        workgroupBarrier();
        if part < PARTS {
            for (var i = part; i < min(WIDTH, n_slots - first); i += PARTS) {
                sum += weights[i] * load(slot_at(row, first + i), key_offset + value_offset() + local % VECS);
            }
        }
    }
    // Totals were summed slot by slot, values part by part: both are added up here.
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
