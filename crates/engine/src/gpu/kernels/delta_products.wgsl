// Products between the tokens of a chunk, independent of the state: products[t, i] = beta_t decay(i, t) k_t . k_i, and
// products[t, CHUNK + i] = decay(i, t) q_t . k_i, for i < t. decay(i, t) is the product of the decays after token i up to token t.
// products[t, t] is the product of all decays of the chunk up to token t.
// products: [rows, n_value_heads, 2 CHUNK], starting at row `first`. Entries at i > t and at CHUNK + t are not written.
// Dispatch: one invocation per i and head; x over i and heads, y over tokens.

#import delta_tokens

@group(0) @binding(2) var<storage, read_write> products: array<f32>;

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let head = id.x / CHUNK;
    let i = id.x % CHUNK;
    let t = id.y;
    let own = t % CHUNK;
    if head >= p.n_value_heads || t >= p.n || i > own {
        return;
    }
    let begin = t - own;
    var decay = 1.0;
    for (var s = select(i + 1u, 0u, i == own); s <= own; s++) {
        decay *= rates(begin + s, head).x;
    }
    let at = products_at(t, head) + i;
    if i == own {
        products[at] = decay;
        return;
    }
    let query = query_at(t, head);
    let key = key_at(t, head);
    let other = key_at(begin + i, head);
    var by_key = 0.0;
    var by_query = 0.0;
    for (var v = 0u; v < VECS; v++) {
        by_key += dot(inputs[key + v], inputs[other + v]);
        by_query += dot(inputs[query + v], inputs[other + v]);
    }
    products[at] = rates(t, head).y * decay * by_key;
    products[at + CHUNK] = decay * by_query;
}
