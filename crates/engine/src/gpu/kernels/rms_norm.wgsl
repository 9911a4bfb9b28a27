// RMSNorm: y[y_first + r] = weight * x[first + r] / sqrt(mean(x[first + r]^2) + epsilon), over dim values; += if ADD is set.
// x: [.., stride], weight: [dim], y: [.., stride].
// Dispatch: one invocation per row.

#import rms_norm_common

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.n {
        return;
    }
    let from_x = (p.first + id.x) * p.stride;
    var sum = vec4<f32>();
    for (var i = 0u; i < p.dim; i += 4u) {
        let values = vec4<f32>(x[from_x + i], x[from_x + i + 1u], x[from_x + i + 2u], x[from_x + i + 3u]);
        sum += values * values;
    }
    let scale = inverseSqrt((sum.x + sum.y + sum.z + sum.w) / f32(p.dim) + p.epsilon);
    for (var i = 0u; i < p.dim; i++) {
        store((p.y_first + id.x) * p.stride + i, weight[i] * (x[from_x + i] * scale));
    }
}
