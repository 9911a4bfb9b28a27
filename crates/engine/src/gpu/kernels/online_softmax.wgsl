// Softmax over a sequence of scores with a running maximum (Milakov and Gimelshein 2018). Stores no scores, and no exponential overflows.
// Pass each score to `rescale`, then to `weigh`.

// Largest score so far.
var<private> largest: f32 = -1e30;
// Sum of exp(score - largest).
var<private> total: f32;

// Accepts a score, or the largest of several. Returns the factor that rescales all earlier sums of weights.
fn rescale(score: f32) -> f32 {
    var factor = 1.0;
    if score > largest {
        factor = exp(largest - score);
        total *= factor;
        largest = score;
    }
    return factor;
}

// Weight of an accepted score. Divide it by the final total.
fn weigh(score: f32) -> f32 {
    let weight = exp(score - largest);
    total += weight;
    return weight;
}
