// log_sum_exp, one workgroup a position.

struct Params {
    n: u32,
    first: u32,
    token: u32,
    length: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
@group(0) @binding(3) var<storage, read_write> state: array<vec4<f32>>;

var<workgroup> reduced: array<f32, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let position = p.first + id.x;
    let at = id.x * p.length;
    var own = -1e30;
    for (var i = local; i < p.length; i += WIDTH) {
        own = max(own, logits[at + i]);
    }
    reduced[local] = own;
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            reduced[local] = max(reduced[local], reduced[local + half]);
        }
    }
    workgroupBarrier();
    var before = vec4<f32>(reduced[0], 0.0, 0.0, 0.0);
    if p.token > 0u {
        before = state[position];
    }
    let largest = max(reduced[0], before.x);
    workgroupBarrier();
    var sum = 0.0;
    for (var i = local; i < p.length; i += WIDTH) {
        sum += exp(logits[at + i] - largest);
    }
    reduced[local] = sum;
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            reduced[local] += reduced[local + half];
        }
    }
    workgroupBarrier();
    if local == 0u {
        let target_index = targets[position] - p.token;
        let is_here = target_index < p.length;
        let logit = select(before.z, logits[at + min(target_index, p.length - 1u)], is_here);
        state[position] = vec4<f32>(largest, reduced[0] + before.y * exp(before.x - largest), logit, before.w);
    }
}
