// A token drawn at random: of the tokens left by top-k and top-p, the one at which the running sum of exp(logit / temperature),
// in the order of the vocabulary, passes `random` of its total.
// logits: [n]; draw: [1]; chosen: [index, bits of the sum of all weights].
// Dispatch: one workgroup.

#import params
#import draw
#import reduce

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> draw: array<GpuDraw>;
@group(0) @binding(3) var<storage, read_write> chosen: array<u32>;

// An integer for each number, in the same order.
fn key(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

// exp((logit - the largest one) / temperature) where the key is at least `threshold`.
fn weight(logit: f32, top: f32, threshold: u32) -> f32 {
    return select(0.0, exp((logit - top) / draw[0].temperature), key(logit) >= threshold);
}

fn mass(local: u32, top: f32, threshold: u32) -> f32 {
    var own = 0.0;
    for (var i = local; i < p.n; i += WIDTH) {
        own += weight(logits[i], top, threshold);
    }
    return sum_of_all(local, own);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(local_invocation_index) local: u32) {
    var own_top = -3.4e38;
    for (var i = local; i < p.n; i += WIDTH) {
        own_top = max(own_top, logits[i]);
    }
    let top = max_of_all(local, own_top);
    // The key of the k-th largest logit, from its highest bit to its lowest.
    var kth = 0u;
    for (var bit = 0x80000000u; bit > 0u; bit /= 2u) {
        // f32 counts exactly up to 2^24 tokens.
        var own = 0.0;
        for (var i = local; i < p.n; i += WIDTH) {
            own += f32(key(logits[i]) >= (kth | bit));
        }
        kth = select(kth, kth | bit, sum_of_all(local, own) >= f32(draw[0].top_k));
    }
    // The key of the least likely token of the fewest that hold top_p.
    let wanted = draw[0].top_p * mass(local, top, kth);
    var nucleus = 0u;
    for (var bit = 0x80000000u; bit > 0u; bit /= 2u) {
        nucleus = select(nucleus, nucleus | bit, mass(local, top, max(nucleus | bit, kth)) >= wanted);
    }
    let threshold = max(kth, select(0u, nucleus, draw[0].top_p < 1.0));
    // In the order of the vocabulary: first the invocation whose share of the vocabulary has the token, then the token.
    let share = (p.n + WIDTH - 1u) / WIDTH;
    var own = 0.0;
    for (var i = local * share; i < min(p.n, (local + 1u) * share); i++) {
        own += weight(logits[i], top, threshold);
    }
    let all = sum_of_all(local, own);
    workgroupBarrier();
    reduced[local] = own;
    workgroupBarrier();
    if local == 0u {
        let target_mass = draw[0].random * all;
        var passed = 0.0;
        var owner = 0u;
        // Rounding may let the sum of all shares fall short of the target: then the last one that has a token is it.
        for (var i = 0u; i < WIDTH; i++) {
            if reduced[i] > 0.0 {
                owner = i;
                if passed + reduced[i] > target_mass {
                    break;
                }
                passed += reduced[i];
            }
        }
        var index = 0xffffffffu;
        for (var i = owner * share; i < min(p.n, (owner + 1u) * share); i++) {
            let next = weight(logits[i], top, threshold);
            if next > 0.0 {
                index = i;
                passed += next;
                if passed > target_mass {
                    break;
                }
            }
        }
        chosen[0] = index;
        chosen[1] = bitcast<u32>(all);
    }
}
