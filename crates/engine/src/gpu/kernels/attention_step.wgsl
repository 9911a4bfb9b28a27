// Attention of a decode step, for the one row of the text, from the projections on. One workgroup per query head.
// Adds the bias (if BIAS) to q, k and v. Applies RMSNorm over each head (if NORM), or over all queries and over all keys (if WHOLE), and
// the rotary embedding to q and k. Stores the row's key and value in its cache slot. y[h] = sum over s of softmax(scale q[h] . k[s]) v[s],
// times sigmoid(gate[h]) if GATED. The sums do not depend on WIDTH, the number of invocations.
// qkv: [(n_heads + 2 n_kv_heads) head_dim]; if GATED, gates follow the queries of each head. bias: as qkv;
// norms: queries' [head_dim], keys' [head_dim]; if WHOLE, of all queries and of all keys.
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
// Slots whose scores are in workgroup memory together.
const BLOCK = 128u;
// Invocations that compute one score together. They read neighboring vectors of the key.
const PIECES = 4u;
// Sums over slots. Part q sums slots q, q + PARTS, ... of each block.
const PARTS = 256u / VECS;
// Invocations that load and normalize a head.
const LOADERS = 64u;

// Query, key and value of the row.
var<workgroup> heads: array<f32, 3u * LENGTH>;
// Parts of the scores of a block: [BLOCK, PIECES].
var<workgroup> pieces: array<f32, BLOCK * PIECES>;
// Scores, then weights, of a block.
var<workgroup> weights: array<f32, BLOCK>;
// Sums of weighted values: [PARTS, VECS], and of weights. Each is changed by one invocation.
var<workgroup> sums: array<vec4<f32>, PARTS * VECS>;
var<workgroup> totals: array<f32, PARTS>;

fn projected(column: u32) -> f32 {
    if BIAS {
        return qkv[column] + bias[column];
    }
    return qkv[column];
}

// Loads the head whose values start at `column` of the row.
fn load_head(local: u32, part: u32, column: u32) {
    for (var i = local; i < LENGTH && local < LOADERS; i += LOADERS) {
        var value = 0.0;
        if i < p.head_dim {
            value = projected(column + i);
        }
        heads[part + i] = value;
    }
}

// RMSNorm of a head; `weight` is the offset of its weights. The mean is that of the head, or of `length` values that start at `column` of
// the row (if WHOLE). Each invocation changes only values that it loaded.
fn normalize(local: u32, part: u32, weight: u32, column: u32, length: u32) {
    var sum = 0.0;
    for (var i = local; i < length && local < LOADERS; i += LOADERS) {
        var value = 0.0;
        if WHOLE {
            value = projected(column + i);
        } else {
            value = heads[part + i];
        }
        sum += value * value;
    }
    let scale = inverseSqrt(sum_of_all(local, sum) / f32(length) + p.epsilon);
    for (var i = local; i < p.head_dim && local < LOADERS; i += LOADERS) {
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

// One of PIECES parts of the score of a slot.
fn piece_of_score(row: Row, kv_head: u32, slot: u32, piece: u32) -> f32 {
    let key = key_at(slot, kv_head);
    var score = 0.0;
    if slot < row.slot {
        for (var i = piece; i < VECS; i += PIECES) {
            score += dot(vec_of(QUERY, i), cache[key + i]);
        }
    } else if slot == row.slot {
        for (var i = piece; i < VECS; i += PIECES) {
            score += dot(vec_of(QUERY, i), vec_of(KEY, i));
        }
    }
    return score;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = rows[0];
    let kv_head = kv_head_of(id.x);
    // Columns of the row where the query begins, and all keys.
    let query = id.x * select(p.head_dim, 2u * p.head_dim, GATED);
    let keys = p.n_heads * select(p.head_dim, 2u * p.head_dim, GATED);
    load_head(local, QUERY, query);
    load_head(local, KEY, keys + kv_head * p.head_dim);
    load_head(local, VALUE, keys + (p.n_kv_heads + kv_head) * p.head_dim);
    if NORM {
        normalize(local, QUERY, 0u, 0u, p.head_dim);
        normalize(local, KEY, p.head_dim, 0u, p.head_dim);
    }
    if WHOLE {
        normalize(local, QUERY, id.x * p.head_dim, 0u, p.n_heads * p.head_dim);
        normalize(local, KEY, (p.n_heads + kv_head) * p.head_dim, keys, p.n_kv_heads * p.head_dim);
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
    // Each invocation has one column of some parts. Surplus invocations have none.
    let column = local % VECS;
    let part = select(local / VECS, PARTS, local / VECS >= WIDTH / VECS);
    for (var q = part; q < PARTS; q += WIDTH / VECS) {
        sums[q * VECS + column] = vec4<f32>();
        if column == 0u {
            totals[q] = 0.0;
        }
    }
    for (var first = first_seen(row); first <= row.slot; first += BLOCK) {
        workgroupBarrier();
        for (var i = local; i < BLOCK * PIECES; i += WIDTH) {
            pieces[i] = piece_of_score(row, kv_head, first + i / PIECES, i % PIECES);
        }
        workgroupBarrier();
        var own_largest = -1e30;
        for (var i = local; i < BLOCK; i += WIDTH) {
            var score = -1e30;
            if first + i <= row.slot {
                let at = i * PIECES;
                score = p.scale * ((pieces[at] + pieces[at + 1u]) + (pieces[at + 2u] + pieces[at + 3u]));
            }
            weights[i] = score;
            own_largest = max(own_largest, score);
        }
        let factor = rescale(max_of_all(local, own_largest));
        for (var i = local; i < BLOCK; i += WIDTH) {
            weights[i] = exp(weights[i] - largest);
        }
        workgroupBarrier();
        // The row's own value is added at the end.
        let n = min(BLOCK, row.slot - first);
        for (var q = part; q < PARTS; q += WIDTH / VECS) {
            var sum = factor * sums[q * VECS + column];
            var total = 0.0;
            for (var i = q; i < n; i += PARTS) {
                sum += weights[i] * cache[key_at(first + i, kv_head) + value_offset() + column];
                total += weights[i];
            }
            sums[q * VECS + column] = sum;
            if column == 0u {
                totals[q] = factor * totals[q] + total;
            }
        }
    }
    workgroupBarrier();
    if local < VECS {
        let own_weight = weights[(row.slot - first_seen(row)) % BLOCK];
        var mixed = own_weight * vec_of(VALUE, local);
        var total_of_all = own_weight;
        for (var q = 0u; q < PARTS; q++) {
            mixed += sums[q * VECS + local];
            total_of_all += totals[q];
        }
        let y_at = id.x * p.head_dim + 4u * local;
        for (var i = 0u; i < min(4u, p.head_dim - 4u * local); i++) {
            var value = mixed[i] / total_of_all;
            if GATED {
                value /= 1.0 + exp(-max(qkv[query + p.head_dim + 4u * local + i], -80.0));
            }
            y[y_at + i] = value;
        }
    }
}
