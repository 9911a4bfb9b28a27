// Rows of quantized values in `weights: array<u32>`. Each quantization defines, for a group of 16 values that share a scale:
//   group_at(index) -> Group       where group number `index` of the matrix is, and its scale
//   four(group, j) -> vec4<f32>    its values 4j..4j+4

// The four bytes of a word, lowest first. The word's higher bytes are not cleared from each: mask it.
fn bytes(word: u32) -> vec4<u32> {
    return vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u);
}

// Byte `index` from word `at`.
fn byte(at: u32, index: u32) -> u32 {
    return (weights[at + index / 4u] >> (index % 4u * 8u)) & 255u;
}
