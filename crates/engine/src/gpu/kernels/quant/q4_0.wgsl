// Q4_0: 32 values in 5 words, see nibbles. Value: d (q - 8).

#import nibbles

fn four(group: Group, j: u32) -> vec4<f32> {
    return group.scale * (vec4<f32>(nibbles(group, j)) - 8.0);
}
