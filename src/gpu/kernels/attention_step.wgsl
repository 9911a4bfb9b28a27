// Attention of the one row of a step of generating, a row of the text, from the projections on: one workgroup per head of queries. Each
// head of q, k and v: + bias where the model has one; q and k: RMSNorm over the head where the model has that, then the rotary embedding
// of the row's position. The row's key and value go to its slot of the cache; y[h] = sum over s of softmax(scale q[h] . k[s]) v[s].
// qkv: [(n_heads + 2 n_kv_heads) head_dim]; bias: as qkv; norms: queries' [head_dim], keys' [head_dim]; angles: [positions,
// rotated_dim / 2] of (cos, sin); cache: [slots, key and value, n_kv_heads, VECS vec4]; y: [n_heads head_dim].
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

// Of a head, padded with zeros.
const LENGTH = 4u * VECS;
// Where they begin in `heads`.
const QUERY = 0u;
const KEY = LENGTH;
const VALUE = 2u * LENGTH;

// The row's query, key and value.
var<workgroup> heads: array<f32, 3u * LENGTH>;
// Weights of the current WIDTH slots.
var<workgroup> weights: array<f32, WIDTH>;
// Partial sums of values, one for each invocation: [PARTS, VECS].
var<workgroup> sums: array<vec4<f32>, WIDTH>;

// To sum values, the invocations divide the current slots among PARTS and the output among VECS.
const PARTS = WIDTH / VECS;

// Loads the head whose values begin at `column` of the row.
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

// RMSNorm; `weight`: where its weights begin. Each invocation changes what it has loaded.
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

// The rotary embedding of a position.
fn embed_position(local: u32, part: u32, position: u32) {
    let pairs = p.rotated_dim / 2u;
    for (var i = local; i < pairs; i += WIDTH) {
        let at = part + pair_at(i);
        let rotated = rotate(vec2<f32>(heads[at.x], heads[at.y]), angles[position * pairs + i]);
        heads[at.x] = rotated.x;
        heads[at.y] = rotated.y;
    }
}

// vec4 number `i` of the row's query, key or value.
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
    // One of the heads of queries that share a key and a value writes them; none reads them from the cache.
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
    // Totals were summed slot by slot, values part by part: both are added up here. The row's own value was not among them: its weight
    // is that of the last slot of the last WIDTH.
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
