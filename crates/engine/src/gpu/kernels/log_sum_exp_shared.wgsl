// log_sum_exp with workgroup memory: one workgroup per position.

#import log_sum_exp_common
#import reduce

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let position = p.first + id.x;
    let at = id.x * p.length;
    var own = -1e30;
    for (var i = local; i < p.length; i += WIDTH) {
        own = max(own, logits[at + i]);
    }
    let of_tile = max_of_all(local, own);
    var before = vec4<f32>(of_tile, 0.0, 0.0, 0.0);
    if p.token > 0u {
        before = state[position];
    }
    let largest = max(of_tile, before.x);
    var sum = 0.0;
    for (var i = local; i < p.length; i += WIDTH) {
        sum += exp(logits[at + i] - largest);
    }
    let all = sum_of_all(local, sum);
    // All invocations must read the state before it is written. The barriers of sum_of_all order only workgroup memory.
    storageBarrier();
    if local == 0u {
        let target_index = targets[position] - p.token;
        let is_here = target_index < p.length;
        let logit = select(before.z, logits[at + min(target_index, p.length - 1u)], is_here);
        state[position] = vec4<f32>(largest, all + before.y * exp(before.x - largest), logit, before.w);
    }
}
