// Where the kernels of attention find keys and values: caches are [slots, key and value, n_kv_heads, VECS vec4].

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
