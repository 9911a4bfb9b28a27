// Gated depthwise causal convolution: y[r, c] = gate[r, c] sum over d of w[c, taps - 1 - d] column(r, d, c).
// column(r, d, c) is the cached input d rows before row r, in its suffix or in the text before the suffix; zero before the text.
// w: [channels, taps]; text_cache, suffix_cache: [slots, channels]; gates: [n, gate_stride], starting at column gate_first; y: [n,
// y_stride].
// Dispatch: x over channels, y over rows.

#import params
#import row

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> text_cache: array<f32>;
@group(0) @binding(4) var<storage, read> suffix_cache: array<f32>;
@group(0) @binding(5) var<storage, read> gates: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;

fn column(row: Row, d: u32, c: u32) -> f32 {
    let own = row.suffix_end - row.suffix_start;
    if d < own {
        return suffix_cache[(row.suffix_end - 1u - d) * p.channels + c];
    }
    if d - own < row.prefix_end {
        return text_cache[(row.prefix_end - 1u - (d - own)) * p.channels + c];
    }
    return 0.0;
}

@compute @workgroup_size(WIDTH, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.channels || id.y >= p.n {
        return;
    }
    let row = rows[p.first + id.y];
    var sum = 0.0;
    for (var d = 0u; d < p.taps; d++) {
        sum += w[(id.x + 1u) * p.taps - 1u - d] * column(row, d, id.x);
    }
    y[id.y * p.y_stride + id.x] = gates[id.y * p.gate_stride + p.gate_first + id.x] * sum;
}
