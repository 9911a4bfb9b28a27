// Addresses of keys and values in caches of shape [slots, key and value, n_kv_heads, VECS vec4].

// Several query heads share a key-value head.
fn kv_head_of(head: u32) -> u32 {
    return head / (p.n_heads / p.n_kv_heads);
}

// First position that a row attends to: 0, or the start of its window.
fn first_seen(row: Row) -> u32 {
    if WINDOW {
        return max(row.position + 1u, p.window) - p.window;
    }
    return 0u;
}

// Index of the first vec4 of a slot's key in a cache.
fn key_at(slot: u32, kv_head: u32) -> u32 {
    return (2u * slot * p.n_kv_heads + kv_head) * VECS;
}

// Distance from a key to its value, in vec4.
fn value_offset() -> u32 {
    return p.n_kv_heads * VECS;
}
