// Prepares the inputs of a Gated DeltaNet layer. Applies a causal convolution and silu to queries, keys and values. Normalizes queries
// and keys to length 1, and divides queries by sqrt(head_dim). Per value head: decay = exp(a softplus(alpha + dt)), beta = sigmoid(beta).
// projected: [n, stride]; the first `slot` values are cached: channels, then alpha and beta, n_value_heads each.
// w: [channels, taps]; rates: [a and dt, n_value_heads]; text_cache, suffix_cache: [ring, slot]; y: [n, y_stride].
// Dispatch: one invocation per head of queries, keys, values, and rates; x over heads, y over rows.

#import params
#import row

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> rates: array<f32>;
@group(0) @binding(4) var<storage, read> text_cache: array<f32>;
@group(0) @binding(5) var<storage, read> suffix_cache: array<f32>;
@group(0) @binding(6) var<storage, read> projected: array<f32>;
@group(0) @binding(7) var<storage, read_write> y: array<f32>;

// Projected value d rows before row r of the block: from the block, the suffix, or the text; zero before the text.
fn column(r: u32, d: u32, c: u32) -> f32 {
    let row = rows[p.first + r];
    let own = row.suffix_end - row.suffix_start;
    if p.is_replay == 0u && d <= r && (own == 0u || d < own) {
        if rows[p.first + r - d].slot + d == row.slot {
            return projected[(r - d) * p.stride + c];
        }
    }
    if d < own {
        return suffix_cache[((row.suffix_end - 1u - d) % p.suffix_ring) * p.slot + c];
    }
    if d - own < row.prefix_end {
        return text_cache[((row.prefix_end - 1u - (d - own)) % p.text_ring) * p.slot + c];
    }
    return 0.0;
}

fn convolved(r: u32, c: u32) -> f32 {
    var sum = 0.0;
    for (var d = 0u; d < p.taps; d++) {
        sum += w[(c + 1u) * p.taps - 1u - d] * column(r, d, c);
    }
    // Below -80, silu is almost 0, and exp(-x) would overflow soon.
    return sum / (1.0 + exp(-max(sum, -80.0)));
}

// ln(1 + exp(x)).
fn softplus(x: f32) -> f32 {
    return max(x, 0.0) + log(1.0 + exp(-abs(x)));
}

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n_heads = 2u * p.n_key_heads + p.n_value_heads;
    if id.x >= n_heads + p.n_value_heads || id.y >= p.n {
        return;
    }
    let channels = n_heads * p.head_dim;
    let at = id.y * p.y_stride;
    if id.x >= n_heads {
        let head = id.x - n_heads;
        let alpha = column(id.y, 0u, channels + head) + rates[p.n_value_heads + head];
        let beta = column(id.y, 0u, channels + p.n_value_heads + head);
        y[at + channels + head] = exp(max(rates[head] * softplus(alpha), -80.0));
        y[at + channels + p.n_value_heads + head] = 1.0 / (1.0 + exp(-max(beta, -80.0)));
        return;
    }
    let first = id.x * p.head_dim;
    var sum = 0.0;
    for (var i = 0u; i < p.head_dim; i++) {
        let value = convolved(id.y, first + i);
        sum += value * value;
        y[at + first + i] = value;
    }
    if id.x >= 2u * p.n_key_heads {
        return;
    }
    // The same epsilon as in transformers (models/qwen3_5).
    var scale = inverseSqrt(sum + 1e-6);
    if id.x < p.n_key_heads {
        scale *= inverseSqrt(f32(p.head_dim));
    }
    for (var i = 0u; i < p.head_dim; i++) {
        y[at + first + i] *= scale;
    }
}
