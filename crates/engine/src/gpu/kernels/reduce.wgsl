// Sum or maximum of one value from each of the WIDTH invocations of a workgroup. All invocations receive the result.

var<workgroup> reduced: array<f32, WIDTH>;

fn sum_of_all(local: u32, value: f32) -> f32 {
    // Wait until all invocations have read the previous result.
    workgroupBarrier();
    reduced[local] = value;
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            reduced[local] += reduced[local + half];
        }
    }
    workgroupBarrier();
    return reduced[0];
}

fn max_of_all(local: u32, value: f32) -> f32 {
    workgroupBarrier();
    reduced[local] = value;
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            reduced[local] = max(reduced[local], reduced[local + half]);
        }
    }
    workgroupBarrier();
    return reduced[0];
}
