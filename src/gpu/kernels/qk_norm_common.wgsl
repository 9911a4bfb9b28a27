// The inputs and outputs of both variants of qk_norm, and which values they are about.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> qkv: array<f32>;

// Queries are part 0 of a row, keys part 1: columns from x up to y, and weights from x on.
fn columns_of(part: u32) -> vec2<u32> {
    return select(vec2<u32>(0u, p.q_width), vec2<u32>(p.q_width, p.q_width + p.k_width), part == 1u);
}
