// rms_norm, one workgroup a row.

struct Params {
    n: u32,
    first: u32,
    dim: u32,
    stride: u32,
    epsilon: f32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

var<workgroup> sums: array<f32, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = group.x;
    let from_x = (p.first + row) * p.stride;
    var sum = 0.0;
    for (var i = local; i < p.dim; i += WIDTH) {
        let value = x[from_x + i];
        sum += value * value;
    }
    sums[local] = sum;
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            sums[local] += sums[local + half];
        }
    }
    workgroupBarrier();
    let scale = inverseSqrt(sums[0] / f32(p.dim) + p.epsilon);
    for (var i = local; i < p.dim; i += WIDTH) {
        y[row * p.stride + i] = weight[i] * (x[from_x + i] * scale);
    }
}
