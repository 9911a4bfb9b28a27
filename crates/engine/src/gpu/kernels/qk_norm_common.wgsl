// Shared inputs and outputs of the qk_norm kernels, and the columns of each part.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> qkv: array<f32>;

// Columns x..y of a part: part 0 is the queries, part 1 the keys. Their weights start at x too.
fn columns_of(part: u32) -> vec2<u32> {
    return select(vec2<u32>(0u, p.q_width), vec2<u32>(p.q_width, p.q_width + p.k_width), part == 1u);
}
