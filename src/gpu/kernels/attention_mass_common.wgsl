// What the kernels of attention_mass have in common, beside attention_common.

@group(0) @binding(4) var<storage, read> ranges: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> outputs: array<f32>;
@group(0) @binding(6) var<storage, read_write> sums: array<vec2<f32>>;

// Which target a row predicts. For a row before the first target's, this wraps to a large number.
fn target_of(row: Row) -> u32 {
    return row.position + 1u - p.first_target;
}

// Adds a head's weight on range `r`, and what it passes on along the output; `squares`: the squared length of all heads' outputs.
fn add(target_index: u32, head: u32, r: u32, sum: vec2<f32>, squares: f32) {
    // What is not a number is not below zero either, and stays so.
    var flow = 0.0;
    if !(sum.y <= 0.0) {
        let share = sum.y / squares;
        flow = share * share;
    }
    sums[(target_index * p.n_heads + head) * p.n_ranges + r] += vec2(sum.x, flow);
}
