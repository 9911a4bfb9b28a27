// Adds a tile of logits to the running log-sum-exp of each position, and stores the target's logit.
// logits: [n, length] for tokens `token`..`token + length`; targets: [..]; state: [..] of (largest logit, sum of exp(logit - largest),
// target's logit, kl_divergence's sum): ln p(target) = target's logit - largest - ln(sum).
// Sums groups of SUMMED terms, then the groups, then the tiles, because a single f32 sum over the vocabulary would lose small terms.
// Dispatch: one invocation per position.

#import log_sum_exp_common

const SUMMED = 64u;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n {
        return;
    }
    let at = id.x * p.length;
    var largest = logits[at];
    for (var i = 1u; i < p.length; i++) {
        largest = max(largest, logits[at + i]);
    }
    var before = vec4<f32>(largest, 0.0, 0.0, 0.0);
    if p.token > 0u {
        before = state[p.first + id.x];
        largest = max(largest, before.x);
    }
    var of_tile = 0.0;
    for (var start = 0u; start < p.length; start += SUMMED) {
        var sum = 0.0;
        for (var i = start; i < min(start + SUMMED, p.length); i++) {
            sum += exp(logits[at + i] - largest);
        }
        of_tile += sum;
    }
    let sum = before.y * exp(before.x - largest) + of_tile;
    let target_index = targets[p.first + id.x] - p.token;
    let is_here = target_index < p.length;
    let logit = select(before.z, logits[at + min(target_index, p.length - 1u)], is_here);
    state[p.first + id.x] = vec4<f32>(largest, sum, logit, before.w);
}
