// Updates the recurrent state of a Gated DeltaNet layer, chunk by chunk. For token t of a chunk, with state S before the chunk:
// u_t = beta_t (v_t - decay_t S^T k_t) - sum over i < t of products[t, i] u_i
// y_t = decay_t S^T q_t + sum over i < t of products[t, CHUNK + i] u_i + (q_t . k_t) u_t
// After the chunk: S <- decay S + sum over t of (decay after t) k_t u_t^T; see delta_products.
// inputs: [rows, vec4 of a row], starting at row `first`; states: [slots, n_value_heads, head_dim of the key, head_dim of the value];
// y: [rows, y_stride]. Dispatch: one invocation per four columns of S; x over these.

#import delta_rule_common

// The rows of four columns.
var<private> state: array<vec4<f32>, DIM>;
var<private> updates: array<vec4<f32>, CHUNK>;

// Four values of a key or a query times four rows of the state.
fn product(x: vec4<f32>, i: u32) -> vec4<f32> {
    return x.x * state[4u * i] + x.y * state[4u * i + 1u] + x.z * state[4u * i + 2u] + x.w * state[4u * i + 3u];
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let column = 4u * id.x;
    if column >= p.n_value_heads * DIM {
        return;
    }
    let head = column / DIM;
    for (var i = 0u; i < DIM; i++) {
        state[i] = vec4<f32>(old_state(column, i), old_state(column + 1u, i), old_state(column + 2u, i), old_state(column + 3u, i));
    }
    for (var begin = 0u; begin < p.n; begin += CHUNK) {
        let n = min(CHUNK, p.n - begin);
        for (var own = 0u; own < n; own++) {
            let t = begin + own;
            let key = key_at(t, head);
            let query = query_at(t, head);
            var predicted = vec4<f32>();
            var output = vec4<f32>();
            var q_dot_k = 0.0;
            for (var i = 0u; i < VECS; i++) {
                let k = inputs[key + i];
                let q = inputs[query + i];
                predicted += product(k, i);
                output += product(q, i);
                q_dot_k += dot(k, q);
            }
            let decay = decay_to(t, own, head);
            let values = vec4<f32>(value(t, column), value(t, column + 1u), value(t, column + 2u), value(t, column + 3u));
            var update = rates(t, head).y * (values - decay * predicted);
            output *= decay;
            let at = products_at(t, head);
            for (var i = 0u; i < own; i++) {
                update -= products[at + i] * updates[i];
                output += products[at + CHUNK + i] * updates[i];
            }
            updates[own] = update;
            output += q_dot_k * update;
            for (var c = 0u; c < 4u; c++) {
                store(t, column + c, output[c]);
            }
        }
        var decay_after = 1.0;
        for (var own = n; own > 0u; own--) {
            updates[own - 1u] *= decay_after;
            decay_after *= rates(begin + own - 1u, head).x;
        }
        for (var i = 0u; i < VECS; i++) {
            var row0 = decay_after * state[4u * i];
            var row1 = decay_after * state[4u * i + 1u];
            var row2 = decay_after * state[4u * i + 2u];
            var row3 = decay_after * state[4u * i + 3u];
            for (var own = 0u; own < n; own++) {
                let k = inputs[key_at(begin + own, head) + i];
                row0 += k.x * updates[own];
                row1 += k.y * updates[own];
                row2 += k.z * updates[own];
                row3 += k.w * updates[own];
            }
            state[4u * i] = row0;
            state[4u * i + 1u] = row1;
            state[4u * i + 2u] = row2;
            state[4u * i + 3u] = row3;
        }
    }
    for (var i = 0u; i < DIM; i++) {
        for (var c = 0u; c < 4u; c++) {
            states[state_at(p.new_slot, column + c, i)] = state[i][c];
        }
    }
}
