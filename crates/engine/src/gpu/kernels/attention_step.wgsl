// Attention of a decode step, for the one row of the text, from the projections on. One workgroup per query head.
// Adds the bias (if BIAS) to q, k and v. Applies RMSNorm over each head (if NORM) and the rotary embedding to q and k. Stores the row's
// key and value in its cache slot. y[h] = sum over s of softmax(scale q[h] . k[s]) v[s].
// qkv: [(n_heads + 2 n_kv_heads) head_dim]; bias: as qkv; norms: queries' [head_dim], keys' [head_dim];
// angles: [positions, rotated_dim / 2] of (cos, sin); cache: [slots, key and value, n_kv_heads, VECS vec4]; y: [n_heads head_dim].
// Dispatch: x over heads.

#import params
#import row
#import attention_slots
#import online_softmax
#import reduce
#import rope

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> qkv: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read> norms: array<f32>;
@group(0) @binding(5) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> cache: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> y: array<f32>;

// Padded length of a head.
const LENGTH = 4u * VECS;
// Offsets in `heads`.
const QUERY = 0u;
const KEY = LENGTH;
const VALUE = 2u * LENGTH;

// Query, key and value of the row.
var<workgroup> heads: array<f32, 3u * LENGTH>;
// Weights of the current WIDTH slots.
var<workgroup> weights: array<f32, WIDTH>;
// Partial sums of values, one per invocation: [PARTS, VECS].
var<workgroup> sums: array<vec4<f32>, WIDTH>;

// To sum values, the invocations divide the current slots into PARTS and the output into VECS.
const PARTS = WIDTH / VECS;

// Loads the head whose values start at `column` of the row.
fn load_head(local: u32, part: u32, column: u32) {
    for (var i = local; i < LENGTH; i += WIDTH) {
        var value = 0.0;
        if i < p.head_dim {
            value = qkv[column + i];
            if BIAS {
                value += bias[column + i];
            }
        }
        heads[part + i] = value;
    }
}

// RMSNorm; `weight` is the offset of its weights. Each invocation changes only values that it loaded.
fn normalize(local: u32, part: u32, weight: u32) {
    var sum = 0.0;
    for (var i = local; i < LENGTH; i += WIDTH) {
        sum += heads[part + i] * heads[part + i];
    }
    let scale = inverseSqrt(sum_of_all(local, sum) / f32(p.head_dim) + p.epsilon);
    for (var i = local; i < p.head_dim; i += WIDTH) {
        heads[part + i] *= scale * norms[weight + i];
    }
}

// Applies the rotary embedding of a position.
fn embed_position(local: u32, part: u32, position: u32) {
    let pairs = p.rotated_dim / 2u;
    for (var i = local; i < pairs; i += WIDTH) {
        let at = part + pair_at(i);
        let rotated = rotate(vec2<f32>(heads[at.x], heads[at.y]), angles[position * pairs + i]);
        heads[at.x] = rotated.x;
        heads[at.y] = rotated.y;
    }
}

// The `i`-th vec4 of the row's query, key or value.
fn vec_of(part: u32, i: u32) -> vec4<f32> {
    let at = part + 4u * i;
    return vec4<f32>(heads[at], heads[at + 1u], heads[at + 2u], heads[at + 3u]);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = rows[0];
    let kv_head = kv_head_of(id.x);
    load_head(local, QUERY, id.x * p.head_dim);
    load_head(local, KEY, (p.n_heads + kv_head) * p.head_dim);
    load_head(local, VALUE, (p.n_heads + p.n_kv_heads + kv_head) * p.head_dim);
    if NORM {
        normalize(local, QUERY, 0u);
        normalize(local, KEY, p.head_dim);
    }
    workgroupBarrier();
    embed_position(local, QUERY, row.position);
    embed_position(local, KEY, row.position);
    workgroupBarrier();
    // One of the query heads that share a key and value stores them. No invocation reads them from the cache.
    let own = key_at(row.slot, kv_head);
    if id.x % (p.n_heads / p.n_kv_heads) == 0u {
        for (var i = local; i < VECS; i += WIDTH) {
            cache[own + i] = vec_of(KEY, i);
            cache[own + value_offset() + i] = vec_of(VALUE, i);
        }
    }
    let part = local / VECS;
    var sum = vec4<f32>();
    for (var first = first_seen(row); first <= row.slot; first += WIDTH) {
        workgroupBarrier();
        let slot = first + local;
        var score = -1e30;
        if slot < row.slot {
            let key = key_at(slot, kv_head);
            score = 0.0;
            for (var i = 0u; i < VECS; i++) {
                score += dot(vec_of(QUERY, i), cache[key + i]);
            }
            score *= p.scale;
        } else if slot == row.slot {
            score = 0.0;
            for (var i = 0u; i < VECS; i++) {
                score += dot(vec_of(QUERY, i), vec_of(KEY, i));
            }
            score *= p.scale;
        }
        sum *= rescale(max_of_all(local, score));
        weights[local] = 0.0;
        if slot <= row.slot {
            weights[local] = weigh(score);
        }
        workgroupBarrier();
        if part < PARTS {
            for (var i = part; i < min(WIDTH, row.slot - first); i += PARTS) {
                sum += weights[i] * cache[key_at(first + i, kv_head) + value_offset() + local % VECS];
            }
        }
    }
    // Combine the totals, which were summed by slot, and the values, which were summed by part. Add the row's own value, whose weight is
    // that of the last slot in the last WIDTH slots.
    sums[local] = sum;
    let total_of_all = sum_of_all(local, total);
    if local < VECS {
        var mixed = weights[(row.slot - first_seen(row)) % WIDTH] * vec_of(VALUE, local);
        for (var i = 0u; i < PARTS; i++) {
            mixed += sums[i * VECS + local];
        }
        let y_at = id.x * p.head_dim + 4u * local;
        for (var i = 0u; i < min(4u, p.head_dim - 4u * local); i++) {
            y[y_at + i] = mixed[i] / total_of_all;
        }
    }
}
