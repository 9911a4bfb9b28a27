// IQ4_NL: 32 values in 5 words, see nibbles. Value: d iq4_values(q).

#import iq4_values
#import nibbles

fn four(group: Group, j: u32) -> vec4<f32> {
    return group.scale * iq4_values(nibbles(group, j));
}
