// What the kernels of attention have in common: their inputs, and where keys and values are.
// qkv: [n, q_stride], queries first; text_cache: [slots, key and value, n_kv_heads, VECS vec4].

#import params
#import row

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> qkv: array<f32>;
@group(0) @binding(3) var<storage, read> text_cache: array<vec4<f32>>;

// Several query heads share a key and a value head.
fn kv_head_of(head: u32) -> u32 {
    return head / (p.n_heads / p.n_kv_heads);
}

// The first position that a row sees: all before it, or those in its window.
fn first_seen(row: Row) -> u32 {
    if WINDOW {
        return max(row.position + 1u, p.window) - p.window;
    }
    return 0u;
}

// The first vec4 of a slot's key in a cache.
fn key_at(slot: u32, kv_head: u32) -> u32 {
    return (2u * slot * p.n_kv_heads + kv_head) * VECS;
}

// How many vec4 after its key a value begins.
fn value_offset() -> u32 {
    return p.n_kv_heads * VECS;
}
