// Rows of quantized values in `weights: array<u32>`; the words of INTERLEAVED_ROWS rows take turns. Each quantization defines, for a
// group of 16 values that share a scale:
//   group_at(row, quad, i) -> Group    where group number 4 quad + i of the row at `row` is, and its scale
//   four(group, j) -> vec4<f32>        its values 4j..4j+4

// Where row number `row` begins.
fn row_at(row: u32) -> u32 {
    return row / INTERLEAVED_ROWS * INTERLEAVED_ROWS * p.row_words + row % INTERLEAVED_ROWS;
}

// `n` words of a row further.
fn after(at: u32, n: u32) -> u32 {
    return at + n * INTERLEAVED_ROWS;
}

// Word `n` of a row, counted from `at`.
fn word(at: u32, n: u32) -> u32 {
    return weights[after(at, n)];
}

// The four bytes of a word, lowest first. The word's higher bytes are not cleared from each: mask it.
fn bytes(word: u32) -> vec4<u32> {
    return vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u);
}

// The four bytes of a word as numbers, lowest first, in a form that compilers know: some GPUs turn a byte of a word into a float at once.
fn cleared_bytes(word: u32) -> vec4<u32> {
    return bytes(word) & vec4<u32>(255u);
}

// Byte `index` from word `at`.
fn byte(at: u32, index: u32) -> u32 {
    return (word(at, index / 4u) >> (index % 4u * 8u)) & 255u;
}

// The two halves of a word, by integers: a GPU may take halves below 2^-14 for zero in `unpack2x16float`, and scales of small weights are
// that small.
fn halves(word: u32) -> vec2<f32> {
    let pair = vec2<u32>(word & 0xffffu, word >> 16u);
    let magnitude = pair & vec2<u32>(0x7fffu);
    let subnormal = vec2<f32>(magnitude) * 0x1p-24;
    // The exponent's bias of 15 becomes one of 127; what is not finite stays so.
    let rebias = select(vec2<u32>(0x38000000u), vec2<u32>(0x70000000u), magnitude >= vec2<u32>(0x7c00u));
    let normal = (magnitude << vec2<u32>(13u)) + rebias;
    let bits = select(normal, bitcast<vec2<u32>>(subnormal), magnitude < vec2<u32>(0x400u));
    return bitcast<vec2<f32>>(bits | ((pair & vec2<u32>(0x8000u)) << vec2<u32>(16u)));
}
