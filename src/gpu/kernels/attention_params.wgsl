// What both variants of attention are given.

struct Params {
    n: u32,
    first: u32,
    n_heads: u32,
    n_kv_heads: u32,
    head_dim: u32,
    q_stride: u32,
    y_stride: u32,
    scale: f32,
}

#import row

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> qkv: array<f32>;
@group(0) @binding(3) var<storage, read> shared_cache: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> own_cache: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
