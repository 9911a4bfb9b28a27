// Reads the inputs of tokens for the delta_rule kernels: queries, keys, values, decays, betas; see delta_inputs.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> inputs: array<vec4<f32>>;

// Number of values per head.
const DIM = 4u * VECS;

fn input(at: u32) -> f32 {
    return inputs[at / 4u][at % 4u];
}

// Index of the query of a token in vec4, for a value head. The key is at `key_at`.
fn query_at(t: u32, head: u32) -> u32 {
    return (p.first + t) * p.stride + head % p.n_key_heads * VECS;
}

fn key_at(t: u32, head: u32) -> u32 {
    return query_at(t, head) + p.n_key_heads * VECS;
}

fn value(t: u32, column: u32) -> f32 {
    return input(4u * (p.first + t) * p.stride + 2u * p.n_key_heads * DIM + column);
}

// The decay and the beta of a token.
fn rates(t: u32, head: u32) -> vec2<f32> {
    let at = 4u * (p.first + t) * p.stride + (2u * p.n_key_heads + p.n_value_heads) * DIM + head;
    return vec2<f32>(input(at), input(at + p.n_value_heads));
}

// Index of a token's products: CHUNK of its key with the keys of its chunk, then CHUNK of its query with them.
fn products_at(t: u32, head: u32) -> u32 {
    return ((p.first + t) * p.n_value_heads + head) * 2u * CHUNK;
}
