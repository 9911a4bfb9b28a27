// Shared inputs and outputs of the top_tokens kernels. An entry is the bits of a logit and its token.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read_write> entries: array<vec2<u32>>;

const NO_TOKEN = 0xffffffffu;

// Entry `k` of a row after the earlier tiles.
fn earlier(row: u32, k: u32) -> vec2<u32> {
    var entry = vec2<u32>(0u, NO_TOKEN);
    if p.token > 0u {
        entry = entries[row * KEPT + k];
    }
    return entry;
}

// Entry for logit `i` of the tile; `at` is where its row begins. Tests the bits, because compilers may assume that no value is infinite or
// NaN.
fn entry_of(at: u32, i: u32) -> vec2<u32> {
    let bits = bitcast<u32>(logits[at + i]);
    return select(vec2<u32>(bits, p.token + i), vec2<u32>(0u, NO_TOKEN), (bits & 0x7f800000u) == 0x7f800000u);
}

// Whether entry `a` comes before entry `b`: the larger logit first, of equal logits the lower token, entries without a token last.
fn precedes(a: vec2<u32>, b: vec2<u32>) -> bool {
    let x = bitcast<f32>(a.x);
    let y = bitcast<f32>(b.x);
    let is_larger = b.y == NO_TOKEN || x > y;
    let is_lower = x == y && a.y < b.y;
    return a.y != NO_TOKEN && (is_larger || is_lower);
}
