// The inputs and outputs of both variants of delta_rule.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> inputs: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> states: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

// Values of a head.
const DIM = 4u * VECS;

fn input(at: u32) -> f32 {
    return inputs[at / 4u][at % 4u];
}

// Four values of a column of a state, from row `i` on; `column` says which head's and which one. Nothing where a text begins.
fn old_state(column: u32, i: u32) -> vec4<f32> {
    if p.begins == 1u {
        return vec4<f32>();
    }
    let at = state_at(p.old_slot, column, i);
    return vec4<f32>(states[at], states[at + DIM], states[at + 2u * DIM], states[at + 3u * DIM]);
}

fn store_state(column: u32, i: u32, values: vec4<f32>) {
    let at = state_at(p.new_slot, column, i);
    states[at] = values.x;
    states[at + DIM] = values.y;
    states[at + 2u * DIM] = values.z;
    states[at + 3u * DIM] = values.w;
}

fn state_at(slot: u32, column: u32, i: u32) -> u32 {
    return ((slot * p.n_value_heads + column / DIM) * DIM + i) * DIM + column % DIM;
}

// Where the query and the key of a token begin, in vec4: those of a value head.
fn query_at(t: u32, head: u32) -> u32 {
    return (p.first + t) * p.stride + head % p.n_key_heads * VECS;
}

fn key_at(t: u32, head: u32) -> u32 {
    return query_at(t, head) + p.n_key_heads * VECS;
}

fn value(t: u32, column: u32) -> f32 {
    return input(4u * (p.first + t) * p.stride + 2u * p.n_key_heads * DIM + column);
}

// How much of a state stays, and how far it moves.
fn rates(t: u32, head: u32) -> vec2<f32> {
    let at = 4u * (p.first + t) * p.stride + (2u * p.n_key_heads + p.n_value_heads) * DIM + head;
    return vec2<f32>(input(at), input(at + p.n_value_heads));
}

fn store(t: u32, column: u32, read: f32) {
    if p.is_read == 1u {
        y[(p.first + t) * p.y_stride + column] = read;
    }
}
