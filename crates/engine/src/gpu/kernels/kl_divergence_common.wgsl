// Shared inputs and outputs of the kl_divergence kernels.

#import params

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> base_logits: array<f32>;
@group(0) @binding(3) var<storage, read> base: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> state: array<vec4<f32>>;
