// Softmax over scores that come one after the other, with a running maximum (Milakov and Gimelshein 2018): no score is stored,
// and no exponential overflows. Take each score by `rescale`, then `weigh` it.

// The largest score so far.
var<private> largest: f32 = -1e30;
// The sum of exp(score - largest).
var<private> total: f32;

// Takes a score, or the largest of several. Returns the factor for all sums of weights before it.
fn rescale(score: f32) -> f32 {
    var factor = 1.0;
    if score > largest {
        factor = exp(largest - score);
        total *= factor;
        largest = score;
    }
    return factor;
}

// The weight of a score that was taken, before it is divided by the final total.
fn weigh(score: f32) -> f32 {
    let weight = exp(score - largest);
    total += weight;
    return weight;
}
