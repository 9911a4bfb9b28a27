// Attention for many rows with workgroup memory. A workgroup loads each key and value once for QUERIES queries: consecutive rows, times
// the heads that share the keys. Each query sums its keys in order, so results do not depend on the other queries.
// Dispatch: x over key-value heads, y over rows * heads that share one / QUERIES.

#import attention_common
#import online_softmax

@group(0) @binding(4) var<storage, read> suffix_cache: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

// Each query has SLICES invocations. Each of them holds 4 vec4 of the query and of its output.
const STRIDE = 4u * SLICES;
// Keys that are loaded at a time.
const KEYS = min(8u, 64u / SLICES);

// [KEYS, STRIDE], padded with zeros.
var<workgroup> keys: array<vec4<f32>, KEYS * STRIDE>;
var<workgroup> values: array<vec4<f32>, KEYS * STRIDE>;
// Partial scores by slice, [SLICES, KEYS, QUERIES]. Slice 0 then holds their sum.
var<workgroup> scores: array<f32, SLICES * KEYS * QUERIES>;

// Slots that a row attends to: x..y of the text and z..w of its suffix. Suffix slots continue the positions of the text.
fn seen_by(row: Row) -> vec4<u32> {
    let seen = first_seen(row);
    return vec4<u32>(seen, row.prefix_end, row.suffix_start + max(seen, row.prefix_end) - row.prefix_end, row.suffix_end);
}

fn query_at(at: u32, d: u32) -> vec4<f32> {
    let i = vec4<u32>(d) + vec4<u32>(0u, 1u, 2u, 3u);
    let each = at + min(i, vec4<u32>(p.head_dim - 1u));
    let q = vec4<f32>(qkv[each.x], qkv[each.y], qkv[each.z], qkv[each.w]);
    return select(vec4<f32>(), q * p.scale, i < vec4<u32>(p.head_dim));
}

fn store(at: u32, d: u32, mixed: vec4<f32>) {
    for (var i = 0u; i < 4u; i++) {
        if d + i < p.head_dim {
            y[at + d + i] = mixed[i] / total;
        }
    }
}

@compute @workgroup_size(QUERIES, SLICES)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let sharing = p.n_heads / p.n_kv_heads;
    let first = id.y * QUERIES;
    let last = min(first + QUERIES, p.n * sharing) - 1u;
    // Union of the slots that the rows of this workgroup attend to.
    var seen = seen_by(rows[p.first + first / sharing]);
    for (var r = first / sharing + 1u; r <= last / sharing; r++) {
        let other = seen_by(rows[p.first + r]);
        seen = select(max(seen, other), min(seen, other), vec4<bool>(true, false, true, false));
    }
    let query = min(first + local.x, last);
    let row = query / sharing;
    let head = id.x * sharing + query % sharing;
    let own = seen_by(rows[p.first + row]);
    let d = 16u * local.y;
    let q_at = row * p.q_stride + head * p.head_dim;
    let q0 = query_at(q_at, d);
    let q1 = query_at(q_at, d + 4u);
    let q2 = query_at(q_at, d + 8u);
    let q3 = query_at(q_at, d + 12u);
    var sum0 = vec4<f32>();
    var sum1 = vec4<f32>();
    var sum2 = vec4<f32>();
    var sum3 = vec4<f32>();
    for (var cache = 0u; cache < 2u; cache++) {
        let is_text = cache == 0u;
        let range = select(seen.zw, seen.xy, is_text);
        let own_range = select(own.zw, own.xy, is_text);
        for (var begin = range.x; begin < range.y; begin += KEYS) {
            workgroupBarrier();
            for (var i = index; i < KEYS * STRIDE; i += QUERIES * SLICES) {
                let at = key_at(min(begin + i / STRIDE, range.y - 1u), id.x) + min(i % STRIDE, VECS - 1u);
                var key = vec4<f32>();
                var value = vec4<f32>();
                if i % STRIDE < VECS {
                    if is_text {
                        key = text_cache[at];
                        value = text_cache[at + value_offset()];
                    } else {
                        key = suffix_cache[at];
                        value = suffix_cache[at + value_offset()];
                    }
                }
                keys[i] = key;
                values[i] = value;
            }
            workgroupBarrier();
            for (var k = 0u; k < KEYS; k++) {
                let at = k * STRIDE + 4u * local.y;
                scores[(local.y * KEYS + k) * QUERIES + local.x] =
                    dot(q0, keys[at]) + dot(q1, keys[at + 1u]) + dot(q2, keys[at + 2u]) + dot(q3, keys[at + 3u]);
            }
            workgroupBarrier();
            for (var k = local.y; k < KEYS; k += SLICES) {
                var score = 0.0;
                for (var slice = 0u; slice < SLICES; slice++) {
                    score += scores[(slice * KEYS + k) * QUERIES + local.x];
                }
                scores[k * QUERIES + local.x] = score;
            }
            workgroupBarrier();
            let end = min(KEYS, max(own_range.y, begin) - begin);
            for (var k = max(own_range.x, begin) - begin; k < end; k++) {
                let score = scores[k * QUERIES + local.x];
                let factor = rescale(score);
                let weight = vec4<f32>(weigh(score));
                let at = k * STRIDE + 4u * local.y;
                sum0 = fma(weight, values[at], factor * sum0);
                sum1 = fma(weight, values[at + 1u], factor * sum1);
                sum2 = fma(weight, values[at + 2u], factor * sum2);
                sum3 = fma(weight, values[at + 3u], factor * sum3);
            }
        }
    }
    if first + local.x <= last {
        let y_at = row * p.y_stride + head * p.head_dim;
        store(y_at, d, sum0);
        store(y_at, d + 4u, sum1);
        store(y_at, d + 8u, sum2);
        store(y_at, d + 12u, sum3);
    }
}
