//! The kernel interpreter detects faults in our kernels.

use glasscage::gpu::catalog::shaders;
use glasscage::gpu::variant::Variant;
use kernel_interpreter::{Arithmetic, Error, Kernel};

const BARRIER: &str = "workgroupBarrier();";
/// Product kernels, each with a number of tokens.
const PRODUCTS: [(&str, u32); 6] = [
    ("matvec_shared.F16.ROWS=1u", 1),
    ("matvec_shared.F16.ROWS=2u", 1),
    ("matvec_shared.F16.ROWS=4u", 1),
    ("matmul_tiles.F16.ROWS=8u.TOKENS=8u", 65),
    ("matmul_tiles.F16.ROWS=8u.TOKENS=4u", 65),
    ("matmul_tiles.F16.ROWS=4u.TOKENS=4u", 65),
];
/// A definition of `halves` with WGSL's own function, which may flush small numbers to zero.
const F16_PAIRS: [&str; 2] =
    ["fn unpack_f16_pair(", "fn unpack_f16_pair(word: u32) -> vec2<f32> { return unpack2x16float(word); }\nfn unused_unpack_f16_pair("];

/// The WGSL of a kernel for real GPUs.
fn wgsl(name: &str) -> String {
    shaders(Variant::of(false)).into_iter().find(|shader| shader.name == name).expect("a kernel").wgsl
}

/// y[t, r] = x[t] W[r] for `n` tokens and 70 F16 rows with 32 columns. All x are 1, and all weights are the f16 number `weight`.
fn products(wgsl: &str, n: u32, weight: u32, arithmetic: Arithmetic) -> Result<Vec<f32>, Error> {
    const ROWS: u32 = 70;
    let kernel = Kernel::new(wgsl, arithmetic)?;
    let params = kernel
        .members(0, &[("n", n), ("groups", 2), ("row_words", 16), ("second", 8), ("x_stride", 8), ("y_stride", ROWS), ("rows", ROWS)])?;
    let x = vec![1_f32.to_bits(); n as usize * 32];
    let y = vec![0; (n * ROWS) as usize];
    // The last binding is for norms, which these products do not use.
    let mut bindings = [params, vec![weight << 16 | weight; ROWS.next_multiple_of(8) as usize * 16], x, y, vec![0; 4]];
    // Enough workgroups for small tiles. Surplus ones do nothing.
    let workgroups = if n == 1 { [ROWS.div_ceil(4), 1, 1] } else { [ROWS.div_ceil(16), n.div_ceil(16), 1] };
    kernel.run(&mut bindings, workgroups, 7)?;
    Ok(bindings[3].iter().map(|&word| f32::from_bits(word)).collect())
}

fn is_race(result: &Result<Vec<f32>, Error>) -> bool {
    // Depending on the order, the other invocation has written the word or not.
    matches!(result, Err(Error::Race { .. } | Error::Uninitialized { .. }))
}

#[test]
fn products_are_right_with_any_arithmetic() {
    for (name, n) in PRODUCTS {
        for arithmetic in [Arithmetic::PLAIN, Arithmetic::ADVERSARIAL] {
            // 2^-14 (1 - 2^-10): the largest subnormal f16 number.
            let products = products(&wgsl(name), n, 0x03ff, arithmetic).unwrap();
            assert!(products.iter().all(|&product| product == 32.0 * 1023.0 * (-24_f32).exp2()), "{name}");
        }
    }
}

#[test]
fn removed_barrier_is_detected() {
    for (name, n) in PRODUCTS {
        let wgsl = wgsl(name);
        let barriers: Vec<usize> = wgsl.match_indices(BARRIER).map(|(at, _)| at).collect();
        assert!(!barriers.is_empty(), "{name}");
        for at in barriers {
            let without = [&wgsl[..at], &wgsl[at + BARRIER.len()..]].concat();
            let result = products(&without, n, 0x3c00, Arithmetic::PLAIN);
            assert!(is_race(&result), "{name}: {result:?}");
        }
    }
}

#[test]
fn write_race_is_detected() {
    let wgsl = wgsl("matvec_shared.F16.ROWS=2u");
    let racing = wgsl.replace("sums[local] = vec4", "sums[local / 2u] = vec4");
    assert_ne!(racing, wgsl);
    assert!(is_race(&products(&racing, 1, 0x3c00, Arithmetic::PLAIN)));
}

#[test]
fn flushed_scales_are_detected() {
    let wgsl = wgsl("matvec_shared.F16.ROWS=2u");
    let relying = wgsl.replace(F16_PAIRS[0], F16_PAIRS[1]);
    assert_ne!(relying, wgsl);
    let [plain, flushed] =
        [Arithmetic::PLAIN, Arithmetic::ADVERSARIAL].map(|arithmetic| products(&relying, 1, 0x03ff, arithmetic).unwrap());
    assert!(plain.iter().all(|&product| product > 0.0) && flushed.iter().all(|&product| product == 0.0));
}
