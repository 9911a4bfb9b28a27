// Shared inputs and outputs of the delta_rule kernels.

#import delta_tokens

@group(0) @binding(2) var<storage, read> products: array<f32>;
@group(0) @binding(3) var<storage, read_write> states: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

// Product of all decays of the chunk up to token t. `own` is the index of token t in its chunk.
fn decay_to(t: u32, own: u32, head: u32) -> f32 {
    if own == 0u {
        return rates(t, head).x;
    }
    return products[products_at(t, head) + own];
}

// Row `i` of a state column. `column` selects a head and a column of it. Zero at the start of a text.
fn old_state(column: u32, i: u32) -> f32 {
    if p.begins == 1u {
        return 0.0;
    }
    return states[state_at(p.old_slot, column, i)];
}

fn state_at(slot: u32, column: u32, i: u32) -> u32 {
    return ((slot * p.n_value_heads + column / DIM) * DIM + i) * DIM + column % DIM;
}

fn store(t: u32, column: u32, output: f32) {
    if p.is_read == 1u {
        y[(p.first + t) * p.y_stride + column] = output;
    }
}
