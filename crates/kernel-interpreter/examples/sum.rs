//! Checks a sum with workgroup memory: with all barriers, without the first one, and without those of the loop.

use kernel_interpreter::{Arithmetic, Error, Kernel};

const WGSL: &str = "
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
var<workgroup> sums: array<f32, 8>;

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    sums[local] = x[group.x * 8u + local];
    /* first */ workgroupBarrier();
    for (var half = 4u; half > 0u; half /= 2u) {
        if local < half {
            sums[local] += sums[local + half];
        }
        /* each */ workgroupBarrier();
    }
    if local == 0u {
        y[group.x] = sums[0];
    }
}";

/// y[g] = sum of x[8 g .. 8 g + 8] for x = 0, 1, .., 15.
fn sums(wgsl: &str) -> Result<Vec<f32>, Error> {
    let mut bindings = [(0..16).map(|i| (i as f32).to_bits()).collect(), vec![0; 2]];
    Kernel::new(wgsl, Arithmetic::PLAIN)?.run(&mut bindings, [2, 1, 1], 1)?;
    Ok(bindings[1].iter().map(|&word| f32::from_bits(word)).collect())
}

fn main() {
    let without = |barrier: &str| WGSL.replace(&format!("/* {barrier} */ workgroupBarrier();"), "");
    for (name, wgsl) in [("as it is", WGSL.to_owned()), ("without the first", without("first")), ("without each", without("each"))] {
        match sums(&wgsl) {
            Ok(sums) => println!("{name}: {sums:?}"),
            Err(error) => println!("{name}: {error}"),
        }
    }
}
