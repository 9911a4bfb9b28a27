// Shared inputs of the attention kernels for many rows.
// qkv: [n, q_stride], queries first; text_cache: [slots, key and value, n_kv_heads, VECS vec4].

#import params
#import row
#import attention_slots

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> qkv: array<f32>;
@group(0) @binding(3) var<storage, read> text_cache: array<vec4<f32>>;
