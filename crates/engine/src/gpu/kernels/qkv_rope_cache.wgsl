// Adds the bias (if BIAS) to q, k and v. Applies RMSNorm over each head (if NORM) and the rotary embedding to q and k. Queries stay in
// qkv; keys and values are stored in the row's cache slot.
// qkv: [n, (n_heads + 2 n_kv_heads) head_dim]; cache: [slots, key and value, n_kv_heads, cached_head].
// bias: as a row of qkv; norms: queries' [head_dim], keys' [head_dim]; angles: [positions, rotated_dim / 2] of (cos, sin).
// Dispatch: one invocation per head; x over heads, y over rows.

#import params
#import row
#import rope

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> norms: array<f32>;
@group(0) @binding(4) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> qkv: array<f32>;
@group(0) @binding(6) var<storage, read_write> cache: array<f32>;

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n_all = p.n_heads + 2u * p.n_kv_heads;
    if id.x >= n_all || id.y >= p.n {
        return;
    }
    let row = rows[p.first + id.y];
    let column = id.x * p.head_dim;
    let at = id.y * n_all * p.head_dim + column;
    if BIAS {
        for (var i = 0u; i < p.head_dim; i++) {
            qkv[at + i] += bias[column + i];
        }
    }
    if id.x >= p.n_heads + p.n_kv_heads {
        let to = ((2u * row.slot + 1u) * p.n_kv_heads + id.x - p.n_heads - p.n_kv_heads) * p.cached_head;
        for (var i = 0u; i < p.head_dim; i++) {
            cache[to + i] = qkv[at + i];
        }
        return;
    }
    let is_key = id.x >= p.n_heads;
    if NORM {
        var sum = 0.0;
        for (var i = 0u; i < p.head_dim; i++) {
            sum += qkv[at + i] * qkv[at + i];
        }
        let scale = inverseSqrt(sum / f32(p.head_dim) + p.epsilon);
        let from_norm = select(0u, p.head_dim, is_key);
        for (var i = 0u; i < p.head_dim; i++) {
            qkv[at + i] *= scale * norms[from_norm + i];
        }
    }
    let pairs = p.rotated_dim / 2u;
    for (var i = 0u; i < pairs; i++) {
        let pair = pair_at(i);
        let rotated = rotate(vec2<f32>(qkv[at + pair.x], qkv[at + pair.y]), angles[row.position * pairs + i]);
        if is_key {
            let to = (2u * row.slot * p.n_kv_heads + id.x - p.n_heads) * p.cached_head;
            cache[to + pair.x] = rotated.x;
            cache[to + pair.y] = rotated.y;
        } else {
            qkv[at + pair.x] = rotated.x;
            qkv[at + pair.y] = rotated.y;
        }
    }
    if is_key {
        let to = (2u * row.slot * p.n_kv_heads + id.x - p.n_heads) * p.cached_head;
        for (var i = p.rotated_dim; i < p.head_dim; i++) {
            cache[to + i] = qkv[at + i];
        }
    }
}
