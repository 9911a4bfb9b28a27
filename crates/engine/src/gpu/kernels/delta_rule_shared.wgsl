// delta_rule with workgroup memory, for COLUMNS columns of S. The lanes of a column divide the tokens of a chunk, and the rows of S.
// Dispatch: one workgroup per COLUMNS columns; x over workgroups.

#import delta_rule_common

const LANES = WIDTH / COLUMNS;

var<workgroup> state: array<f32, DIM * COLUMNS>;
var<workgroup> updates: array<f32, CHUNK * COLUMNS>;
// The updates times the decay after their token, up to the end of the chunk.
var<workgroup> decayed_updates: array<f32, CHUNK * COLUMNS>;
// Products of queries with the state before the chunk. The same lane writes and reads each entry.
var<workgroup> outputs: array<f32, CHUNK * COLUMNS>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    // Invocations past the end repeat the last column from a zero state and store nothing.
    let last = p.n_value_heads * DIM - 1u;
    let c = local % COLUMNS;
    let is_column = group.x * COLUMNS + c <= last;
    let column = min(group.x * COLUMNS + c, last);
    let head = column / DIM;
    let lane = local / COLUMNS;
    for (var i = lane; i < DIM; i += LANES) {
        state[i * COLUMNS + c] = 0.0;
        if is_column {
            state[i * COLUMNS + c] = old_state(column, i);
        }
    }
    workgroupBarrier();
    for (var begin = 0u; begin < p.n; begin += CHUNK) {
        let n = min(CHUNK, p.n - begin);
        for (var own = lane; own < n; own += LANES) {
            let t = begin + own;
            let key = key_at(t, head);
            let query = query_at(t, head);
            var predicted = 0.0;
            var output = 0.0;
            for (var i = 0u; i < VECS; i++) {
                let at = 4u * i * COLUMNS + c;
                let rows = vec4<f32>(state[at], state[at + COLUMNS], state[at + 2u * COLUMNS], state[at + 3u * COLUMNS]);
                predicted += dot(rows, inputs[key + i]);
                output += dot(rows, inputs[query + i]);
            }
            let decay = decay_to(t, own, head);
            updates[own * COLUMNS + c] = rates(t, head).y * (value(t, column) - decay * predicted);
            outputs[own * COLUMNS + c] = decay * output;
        }
        workgroupBarrier();
        if lane == 0u {
            for (var own = 1u; own < n; own++) {
                let at = products_at(begin + own, head);
                var update = updates[own * COLUMNS + c];
                for (var i = 0u; i < own; i++) {
                    update -= products[at + i] * updates[i * COLUMNS + c];
                }
                updates[own * COLUMNS + c] = update;
            }
            var decay_after = 1.0;
            for (var own = n; own > 0u; own--) {
                decayed_updates[(own - 1u) * COLUMNS + c] = decay_after * updates[(own - 1u) * COLUMNS + c];
                decay_after *= rates(begin + own - 1u, head).x;
            }
        }
        workgroupBarrier();
        if is_column {
            for (var own = lane; own < n; own += LANES) {
                let t = begin + own;
                let at = products_at(t, head) + CHUNK;
                var q_dot_k = 0.0;
                for (var i = 0u; i < VECS; i++) {
                    q_dot_k += dot(inputs[key_at(t, head) + i], inputs[query_at(t, head) + i]);
                }
                var output = outputs[own * COLUMNS + c];
                for (var i = 0u; i < own; i++) {
                    output += products[at + i] * updates[i * COLUMNS + c];
                }
                store(t, column, output + q_dot_k * updates[own * COLUMNS + c]);
            }
        }
        let decay = decay_to(begin + n - 1u, n - 1u, head);
        for (var i = lane; i < VECS; i += LANES) {
            let at = 4u * i * COLUMNS + c;
            var rows = decay * vec4<f32>(state[at], state[at + COLUMNS], state[at + 2u * COLUMNS], state[at + 3u * COLUMNS]);
            for (var own = 0u; own < n; own++) {
                rows += decayed_updates[own * COLUMNS + c] * inputs[key_at(begin + own, head) + i];
            }
            for (var j = 0u; j < 4u; j++) {
                state[at + j * COLUMNS] = rows[j];
            }
        }
        workgroupBarrier();
    }
    if is_column {
        for (var i = lane; i < DIM; i += LANES) {
            states[state_at(p.new_slot, column, i)] = state[i * COLUMNS + c];
        }
    }
}
