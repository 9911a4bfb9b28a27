// delta_rule with workgroup memory: LANES invocations have a column, each some of its rows in registers.
// Dispatch: one workgroup per WIDTH / LANES columns; x over workgroups.

#import delta_rule_common

const COLUMNS = WIDTH / LANES;
// vec4 of a column that an invocation has, the last ones perhaps beyond its end.
const OWN = (VECS + LANES - 1u) / LANES;

var<private> state: array<vec4<f32>, OWN>;
// Two in turn, so that one barrier is enough for each sum.
var<workgroup> answers: array<f32, WIDTH>;
var<workgroup> reads: array<f32, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    // A workgroup beyond the end computes its last column again, and stores nothing.
    let last = p.n_value_heads * DIM - 1u;
    let is_there = group.x * COLUMNS + local % COLUMNS <= last;
    let column = min(group.x * COLUMNS + local % COLUMNS, last);
    let head = column / DIM;
    let lane = local / COLUMNS;
    let own = lane * OWN;
    for (var i = 0u; i < OWN; i++) {
        state[i] = vec4<f32>();
        if own + i < VECS && is_there {
            state[i] = old_state(column, 4u * (own + i));
        }
    }
    for (var t = 0u; t < p.n; t++) {
        let key = key_at(t, head);
        let query = query_at(t, head);
        let rate = rates(t, head);
        var part = 0.0;
        for (var i = 0u; i < OWN; i++) {
            if own + i < VECS {
                part += dot(state[i], inputs[key + own + i]);
            }
        }
        answers[local] = part;
        workgroupBarrier();
        var answer = 0.0;
        for (var i = 0u; i < LANES; i++) {
            answer += answers[i * COLUMNS + local % COLUMNS];
        }
        let update = rate.y * (value(t, column) - rate.x * answer);
        part = 0.0;
        for (var i = 0u; i < OWN; i++) {
            if own + i < VECS {
                state[i] = rate.x * state[i] + update * inputs[key + own + i];
                part += dot(state[i], inputs[query + own + i]);
            }
        }
        reads[local] = part;
        workgroupBarrier();
        if lane == 0u && is_there {
            var read = 0.0;
            for (var i = 0u; i < LANES; i++) {
                read += reads[i * COLUMNS + local];
            }
            store(t, column, read);
        }
    }
    for (var i = 0u; i < OWN; i++) {
        if own + i < VECS && is_there {
            store_state(column, 4u * (own + i), state[i]);
        }
    }
}
