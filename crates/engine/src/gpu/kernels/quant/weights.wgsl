// Rows of quantized values in `weights: array<u32>`. The words of INTERLEAVED_ROWS rows are interleaved. Each quantization defines two
// functions for a group of 16 values that share a scale:
//   group_at(row, quad, i) -> Group    location and scale of group 4 quad + i of the row at `row`
//   four(group, j) -> vec4<f32>        values 4j..4j+4 of the group

// Address of row `row`.
fn row_at(row: u32) -> u32 {
    return row / INTERLEAVED_ROWS * INTERLEAVED_ROWS * p.row_words + row % INTERLEAVED_ROWS;
}

// The address `n` words later in the same row.
fn after(at: u32, n: u32) -> u32 {
    return at + n * INTERLEAVED_ROWS;
}

// Word `n` of a row, counted from `at`.
fn word(at: u32, n: u32) -> u32 {
    return weights[after(at, n)];
}

// The four bytes of a word, lowest first. Upper bits are not cleared, so mask the results.
fn bytes(word: u32) -> vec4<u32> {
    return vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u);
}

// The four bytes of a word as numbers, lowest first. Compilers for some GPUs recognize this form and convert a byte to a float in one
// instruction.
fn cleared_bytes(word: u32) -> vec4<u32> {
    return bytes(word) & vec4<u32>(255u);
}

// Byte `index`, counted from word `at`.
fn byte(at: u32, index: u32) -> u32 {
    return (word(at, index / 4u) >> (index % 4u * 8u)) & 255u;
}

// Decodes two f16 values with integer operations. `unpack2x16float` may flush values below 2^-14 to zero, and scales of small weights are
// that small.
fn unpack_f16_pair(word: u32) -> vec2<f32> {
    let pair = vec2<u32>(word & 0xffffu, word >> 16u);
    let magnitude = pair & vec2<u32>(0x7fffu);
    let subnormal = vec2<f32>(magnitude) * 0x1p-24;
    // Changes the exponent bias from 15 to 127. Non-finite values stay non-finite.
    let rebias = select(vec2<u32>(0x38000000u), vec2<u32>(0x70000000u), magnitude >= vec2<u32>(0x7c00u));
    let normal = (magnitude << vec2<u32>(13u)) + rebias;
    let bits = select(normal, bitcast<vec2<u32>>(subnormal), magnitude < vec2<u32>(0x400u));
    return bitcast<vec2<f32>>(bits | ((pair & vec2<u32>(0x8000u)) << vec2<u32>(16u)));
}
