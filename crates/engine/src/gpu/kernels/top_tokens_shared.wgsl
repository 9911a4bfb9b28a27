// top_tokens with workgroup memory: one workgroup per row. Finds the entries in order, each among all that come after the
// previous one.

#import top_tokens_common

// Entries after the earlier tiles.
var<workgroup> before: array<vec2<u32>, KEPT>;
var<workgroup> best: array<vec2<u32>, WIDTH>;

// The first of `own` and `entry`, unless `entry` has been found already: then `own`.
fn first_of(own: vec2<u32>, entry: vec2<u32>, last: vec2<u32>, is_first: bool) -> vec2<u32> {
    let is_left = is_first || precedes(last, entry);
    return select(own, entry, is_left && precedes(entry, own));
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = p.first + id.x;
    let at = id.x * p.length;
    if local < KEPT {
        before[local] = earlier(row, local);
    }
    workgroupBarrier();
    var last = vec2<u32>(0u, NO_TOKEN);
    for (var k = 0u; k < KEPT; k++) {
        var own = vec2<u32>(0u, NO_TOKEN);
        for (var i = local; i < KEPT; i += WIDTH) {
            own = first_of(own, before[i], last, k == 0u);
        }
        for (var i = local; i < p.length; i += WIDTH) {
            own = first_of(own, entry_of(at, i), last, k == 0u);
        }
        // Wait until all invocations have read the previous result.
        workgroupBarrier();
        best[local] = own;
        for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
            workgroupBarrier();
            if local < half && precedes(best[local + half], best[local]) {
                best[local] = best[local + half];
            }
        }
        workgroupBarrier();
        last = best[0];
        // The invocation that read entry k writes it, so no invocation still needs the old value.
        if local == k {
            entries[row * KEPT + k] = last;
        }
    }
}
