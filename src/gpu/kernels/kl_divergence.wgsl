// Adds a tile of the vocabulary to the sum over v of p(v) (z_base(v) - z(v)) of each position, with p = softmax(z_base). The sum and the
// log-sum-exps of both texts give KL(base || perturbed).
// logits: [n, length]; base_logits: [.., length]; base: [n] of (row of base_logits, bits of log-sum-exp); state: [..], w is the sum.
// Dispatch: one invocation per position.

#import kl_divergence_common

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n {
        return;
    }
    let position = base[id.x];
    let at = id.x * p.length;
    let base_at = position.x * p.length;
    let log_sum_exp = bitcast<f32>(position.y);
    var sum = 0.0;
    for (var i = 0u; i < p.length; i++) {
        let logit = base_logits[base_at + i];
        sum += exp(logit - log_sum_exp) * (logit - logits[at + i]);
    }
    state[p.first + id.x].w += sum;
}
