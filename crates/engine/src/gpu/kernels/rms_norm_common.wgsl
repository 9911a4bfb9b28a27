// Shared inputs and outputs of the rms_norm kernels.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

fn store(at: u32, value: f32) {
    if ADD {
        y[at] += value;
    } else {
        y[at] = value;
    }
}
