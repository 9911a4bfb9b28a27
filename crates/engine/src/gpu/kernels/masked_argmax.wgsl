// Updates the most likely allowed token of each row, over tiles of the vocabulary in order. Of equal logits, chooses the lowest token.
// logits: [n, length] for tokens `token`..`token + length`; excluded: [..], one token per row; forbidden: one bit per token;
// best: [..] of (bits of the logit, token), unchanged if no token is allowed; (infinity, no token) from the first infinity or NaN on.
// Dispatch: one invocation per row.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> excluded: array<u32>;
@group(0) @binding(3) var<storage, read> forbidden: array<u32>;
@group(0) @binding(4) var<storage, read_write> best: array<vec2<u32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n {
        return;
    }
    let row = p.first + id.x;
    var found = best[row];
    var is_finite = p.token == 0u || found.x != 0x7f800000u;
    var largest = select(bitcast<f32>(found.x), -3.4e38, p.token == 0u);
    for (var i = 0u; i < p.length; i++) {
        let token = p.token + i;
        let logit = logits[id.x * p.length + i];
        is_finite &= (bitcast<u32>(logit) & 0x7f800000u) != 0x7f800000u;
        let is_forbidden = ((forbidden[token / 32u] >> (token % 32u)) & 1u) == 1u || token == excluded[row];
        if logit > largest && !is_forbidden {
            largest = logit;
            found = vec2<u32>(bitcast<u32>(logit), token);
        }
    }
    // Test the bits, because compilers may assume that no value is NaN.
    best[row] = select(vec2<u32>(0x7f800000u, 0xffffffffu), found, is_finite);
}
