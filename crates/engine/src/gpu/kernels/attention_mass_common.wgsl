// Shared inputs, outputs and functions of the attention_mass kernels, in addition to attention_common.

@group(0) @binding(4) var<storage, read> ranges: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> outputs: array<f32>;
@group(0) @binding(6) var<storage, read_write> sums: array<vec2<f32>>;

// Target that a row predicts. For a row before the first target, this wraps to a large number.
fn target_of(row: Row) -> u32 {
    return row.position + 1u - p.first_target;
}

// Adds to the sums of range `r`. `sum`: weight of the range and its values projected on the output; `squares`: squared length of all
// outputs.
fn add(target_index: u32, head: u32, r: u32, sum: vec2<f32>, squares: f32) {
    // The negated comparison keeps NaN.
    var flow = 0.0;
    if !(sum.y <= 0.0) {
        let share = sum.y / squares;
        flow = share * share;
    }
    sums[(target_index * p.n_heads + head) * p.n_ranges + r] += vec2(sum.x, flow);
}
