// What the kernels of delta_rule read of tokens: queries, keys, values, decays, betas; see delta_inputs.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> inputs: array<vec4<f32>>;

// Values of a head.
const DIM = 4u * VECS;

fn input(at: u32) -> f32 {
    return inputs[at / 4u][at % 4u];
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

// Where a token's products begin: CHUNK of its key with keys of its chunk, CHUNK of its query.
fn products_at(t: u32, head: u32) -> u32 {
    return ((p.first + t) * p.n_value_heads + head) * 2u * CHUNK;
}
