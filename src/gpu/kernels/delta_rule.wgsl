// The memory of a Gated DeltaNet layer, token by token: S <- decay S; S <- S + k (beta (v - S^T k))^T; y = S^T q.
// inputs: [rows, vec4 of a row], from row `first` on: queries, keys, values, decays, betas; see delta_inputs.
// states: [slots, n_value_heads, head_dim of the key, head_dim of the value]; y: [rows, y_stride].
// Dispatch: one invocation per value head and value, which has a column of S; x over these.

#import delta_rule_common

var<private> state: array<vec4<f32>, VECS>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let column = id.x;
    if column >= p.n_value_heads * DIM {
        return;
    }
    let head = column / DIM;
    for (var i = 0u; i < VECS; i++) {
        state[i] = old_state(column, 4u * i);
    }
    for (var t = 0u; t < p.n; t++) {
        let key = key_at(t, head);
        let query = query_at(t, head);
        let rate = rates(t, head);
        var answer = 0.0;
        for (var i = 0u; i < VECS; i++) {
            answer += dot(state[i], inputs[key + i]);
        }
        let update = rate.y * (value(t, column) - rate.x * answer);
        var read = 0.0;
        for (var i = 0u; i < VECS; i++) {
            state[i] = rate.x * state[i] + update * inputs[key + i];
            read += dot(state[i], inputs[query + i]);
        }
        store(t, column, read);
    }
    for (var i = 0u; i < VECS; i++) {
        store_state(column, 4u * i, state[i]);
    }
}
