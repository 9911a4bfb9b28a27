// Decodes four 4-bit numbers of IQ4_NL and IQ4_XS (`kvalues_iq4nl` of ggml-common.h). The table has 16 signed bytes in four words. The
// upper bits of a number select the word, and the lower bits select the byte.
fn iq4_values(q: vec4<u32>) -> vec4<f32> {
    let is_second = (q & vec4<u32>(4u)) != vec4<u32>();
    let negative = select(vec4<u32>(0xbfad9881u), vec4<u32>(0xf6eaddcfu), is_second);
    let positive = select(vec4<u32>(0x26190d01u), vec4<u32>(0x71594535u), is_second);
    let word = select(negative, positive, q >= vec4<u32>(8u));
    let top = bitcast<vec4<i32>>(word << (vec4<u32>(24u) - 8u * (q & vec4<u32>(3u))));
    return vec4<f32>(top >> vec4<u32>(24u));
}
