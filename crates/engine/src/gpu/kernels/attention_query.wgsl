// The query of one head in registers, and its scores, for kernels with one invocation per head.

var<private> q: array<vec4<f32>, VECS>;

// Loads the query of row `r` of this dispatch, scaled. The padding stays zero.
fn load_query(r: u32, head: u32) {
    let at = r * p.q_stride + head * p.head_dim;
    for (var i = 0u; i < p.head_dim; i++) {
        q[i / 4u][i % 4u] = qkv[at + i] * p.scale;
    }
}

// Score of the query with a key of the text.
fn text_score(key: u32) -> f32 {
    var score = 0.0;
    for (var i = 0u; i < VECS; i++) {
        score += dot(q[i], text_cache[key + i]);
    }
    return score;
}
