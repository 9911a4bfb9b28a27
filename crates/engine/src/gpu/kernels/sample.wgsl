// Samples a token. Of the tokens that top-k and top-p keep, chooses the one at which the running sum of exp(logit / temperature), in
// vocabulary order, exceeds `random` times its total.
// logits: [n]; draw: [1]; chosen: [index, bits of the sum of all weights].
// Dispatch: one workgroup.

#import params
#import draw
#import online_softmax
#import reduce

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> draw: array<GpuDraw>;
@group(0) @binding(3) var<storage, read_write> chosen: array<u32>;

// Number of values of a digit. Keys have three digits: the first has 10 bits, the others have 11.
const BINS = 2048u;
// Total of all weights as integers. The sum of that many rounded numbers stays below twice that.
const UNITS: f32 = 0x1p31;
const MAX_KEPT = 1024u;

// Searches digit by digit for the largest key such that it and all larger keys have at least `wanted` units together.
struct Search {
    // The digits found so far.
    key: u32,
    // Units that keys with these digits must contribute.
    wanted: u32,
    // Units of all keys with these digits.
    units: u32,
    // Units of one logit, or of a weight of 1.
    unit: f32,
}

var<workgroup> search: Search;
// Units of the keys by their next digit, and the sum of the bins of each invocation.
var<workgroup> bins: array<atomic<u32>, BINS>;
var<workgroup> shares: array<u32, WIDTH>;
// When few logits remain, they are copied here, in any order. Then the vocabulary is read again only to find the token.
var<workgroup> kept: array<f32, MAX_KEPT>;
var<workgroup> n_kept: atomic<u32>;
var<private> is_kept = false;
// The largest logit.
var<private> top: f32;

// Maps each number to an integer, in the same order.
fn key(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

fn weight(logit: f32) -> f32 {
    return exp((logit - top) / draw[0].temperature);
}

// Weight of a token, or zero if its key is below `threshold`.
fn weight_left(i: u32, threshold: u32) -> f32 {
    let logit = logits[i];
    return select(0.0, weight(logit), key(logit) >= threshold);
}

// Finds the next digit, `shift` bits from the right, among the `n` kept logits or the whole vocabulary. Skips keys below `threshold`.
fn find_digit(local: u32, shift: u32, n: u32, threshold: u32, by_weight: bool) {
    for (var i = local; i < BINS; i += WIDTH) {
        atomicStore(&bins[i], 0u);
    }
    workgroupBarrier();
    let before = search;
    for (var i = local; i < n; i += WIDTH) {
        var logit = 0.0;
        if is_kept {
            logit = kept[i];
        } else {
            logit = logits[i];
        }
        let digit = (key(logit) ^ before.key) >> shift;
        if digit < BINS && key(logit) >= threshold {
            var units = before.unit;
            if by_weight {
                units *= weight(logit);
            }
            atomicAdd(&bins[digit], u32(units + 0.5));
        }
    }
    workgroupBarrier();
    const SHARE = BINS / WIDTH;
    var share = 0u;
    for (var i = 0u; i < SHARE; i++) {
        share += atomicLoad(&bins[local * SHARE + i]);
    }
    shares[local] = share;
    workgroupBarrier();
    if local == 0u {
        var all = 0u;
        for (var i = 0u; i < WIDTH; i++) {
            all += shares[i];
        }
        let is_part = by_weight && shift == 22u;
        // Because of rounding, fewer units may remain than requested.
        var wanted = max(1u, min(all, select(before.wanted, u32(draw[0].top_p * f32(all)), is_part)));
        var i = WIDTH - 1u;
        while i > 0u && shares[i] < wanted {
            wanted -= shares[i];
            i--;
        }
        i = i * SHARE + SHARE - 1u;
        while i > 0u && atomicLoad(&bins[i]) < wanted {
            wanted -= atomicLoad(&bins[i]);
            i--;
        }
        let units = atomicLoad(&bins[i]);
        search = Search(before.key | (i << shift), wanted, units, before.unit);
        if by_weight {
            let finer = UNITS / f32(max(units, 1u));
            search.wanted = u32(f32(wanted) * finer);
            search.unit *= finer;
        }
    }
    workgroupBarrier();
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(local_invocation_index) local: u32) {
    var own_top = -3.4e38;
    var is_bad = 0.0;
    for (var i = local; i < p.n; i += WIDTH) {
        let logit = logits[i];
        own_top = max(own_top, logit);
        is_bad = select(is_bad, 1.0, (bitcast<u32>(logit) & 0x7f800000u) == 0x7f800000u);
        let score = logit / draw[0].temperature;
        rescale(score);
        weigh(score);
    }
    top = max_of_all(local, own_top);
    is_bad = max_of_all(local, is_bad);
    let whole = sum_of_all(local, total * exp(largest - max_of_all(local, largest)));
    if local == 0u {
        atomicStore(&n_kept, 0u);
        search = Search(0u, draw[0].top_k, 0u, 1.0);
    }
    var n = p.n;
    var kth = 0u;
    if draw[0].top_k < p.n {
        for (var digit = 3u; digit > 0u; digit--) {
            find_digit(local, 11u * digit - 11u, n, 0u, false);
            let n_left = draw[0].top_k - search.wanted + search.units;
            if !is_kept && n_left <= MAX_KEPT {
                for (var i = local; i < p.n; i += WIDTH) {
                    let logit = logits[i];
                    if key(logit) >= search.key {
                        kept[atomicAdd(&n_kept, 1u)] = logit;
                    }
                }
                is_kept = true;
                n = n_left;
            }
        }
        kth = search.key;
    }
    // Key of the least likely token in the smallest set that holds top_p.
    var threshold = kth;
    if draw[0].top_p < 1.0 {
        workgroupBarrier();
        if local == 0u {
            search = Search(0u, 0u, 0u, UNITS / min(whole, f32(n)));
        }
        for (var digit = 3u; digit > 0u; digit--) {
            find_digit(local, 11u * digit - 11u, n, kth, true);
        }
        threshold = max(kth, search.key);
    }
    // Search in vocabulary order: first the invocation whose part of the vocabulary contains the token, then the token.
    let share = (p.n + WIDTH - 1u) / WIDTH;
    var own = 0.0;
    for (var i = local * share; i < min(p.n, (local + 1u) * share); i++) {
        own += weight_left(i, threshold);
    }
    let all = sum_of_all(local, own);
    workgroupBarrier();
    reduced[local] = own;
    workgroupBarrier();
    if local == 0u {
        let target_mass = draw[0].random * all;
        var passed = 0.0;
        var owner = 0u;
        // Because of rounding, the sum of all parts may be below the target. Then choose the last part that has a token.
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
            let next = weight_left(i, threshold);
            if next > 0.0 {
                index = i;
                passed += next;
                if passed > target_mass {
                    break;
                }
            }
        }
        chosen[0] = index;
        chosen[1] = select(bitcast<u32>(all), 0x7f800000u, is_bad > 0.0);
    }
}
