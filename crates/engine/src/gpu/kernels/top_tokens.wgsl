// Updates the KEPT most likely tokens of each row, over tiles of the vocabulary in order. Leaves out logits that are infinite or NaN.
// logits: [n, length] for tokens `token`..`token + length`; entries: [.., KEPT] of (bits of the logit, token), the most likely first, of
// equal logits the lowest token; (0, NO_TOKEN) where there are fewer tokens.
// Dispatch: one invocation per row.

#import top_tokens_common

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n {
        return;
    }
    let row = p.first + id.x;
    var kept: array<vec2<u32>, KEPT>;
    for (var k = 0u; k < KEPT; k++) {
        kept[k] = earlier(row, k);
    }
    for (var i = 0u; i < p.length; i++) {
        var entry = entry_of(id.x * p.length, i);
        if precedes(entry, kept[KEPT - 1u]) {
            for (var k = 0u; k < KEPT; k++) {
                if precedes(entry, kept[k]) {
                    let moved = kept[k];
                    kept[k] = entry;
                    entry = moved;
                }
            }
        }
    }
    for (var k = 0u; k < KEPT; k++) {
        entries[row * KEPT + k] = kept[k];
    }
}
