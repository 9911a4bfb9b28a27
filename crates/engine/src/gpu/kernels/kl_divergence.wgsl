// Adds a tile of the vocabulary to sum over v of p(v) (z_base(v) - z(v)), p = softmax(z_base), of each position. With the log-sum-exps of
// both texts, this gives KL(base || perturbed).
// logits: [n, length]; base_logits: [.., length]; base: [n] of (row of base_logits, log-sum-exp's bits); state: [..], w is the sum.
// Sums groups of SUMMED terms, then the groups, as in log_sum_exp.
// Dispatch: one invocation per position.

#import kl_divergence_common

const SUMMED = 64u;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n {
        return;
    }
    let position = base[id.x];
    let at = id.x * p.length;
    let base_at = position.x * p.length;
    let log_sum_exp = bitcast<f32>(position.y);
    var of_tile = 0.0;
    for (var start = 0u; start < p.length; start += SUMMED) {
        var sum = 0.0;
        for (var i = start; i < min(start + SUMMED, p.length); i++) {
            let logit = base_logits[base_at + i];
            sum += exp(logit - log_sum_exp) * (logit - logits[at + i]);
        }
        of_tile += sum;
    }
    state[p.first + id.x].w += of_tile;
}
