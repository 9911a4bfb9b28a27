// One token on its way through the layers.
struct Row {
    token: u32,
    // Its embedding is moved by `share` of the way to that of `other`.
    other: u32,
    share: f32,
    // In its text, for the rotary embedding.
    position: u32,
    // Where its key and value go.
    slot: u32,
    // It attends to slots 0..shared of the text's keys ..
    shared_end: u32,
    // .. and to own_first..own_end of its suffix's.
    own_first: u32,
    own_end: u32,
}
