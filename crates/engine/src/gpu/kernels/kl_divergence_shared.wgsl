// kl_divergence with workgroup memory: one workgroup per position.

#import kl_divergence_common
#import reduce

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let position = base[id.x];
    let at = id.x * p.length;
    let base_at = position.x * p.length;
    let log_sum_exp = bitcast<f32>(position.y);
    var sum = 0.0;
    for (var i = local; i < p.length; i += WIDTH) {
        let logit = base_logits[base_at + i];
        sum += exp(logit - log_sum_exp) * (logit - logits[at + i]);
    }
    let all = sum_of_all(local, sum);
    if local == 0u {
        state[p.first + id.x].w += all;
    }
}
