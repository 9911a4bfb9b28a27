//! What the tests of the kernels share.

#[cfg(not(target_arch = "wasm32"))]
use kernel_interpreter::Arithmetic;

use super::device::{Gpu, Options};
use super::variant::{VARIANTS, Variant};
pub use crate::lm::rng::random;
pub use crate::model::config::testing::config;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Marks memory where no kernel may write.
pub const SENTINEL: f32 = -12345.5;

/// The GPU of this machine, once for each variant.
pub async fn gpus() -> Vec<Gpu> {
    let mut gpus = Vec::new();
    for variant in VARIANTS {
        gpus.push(open(variant).await);
    }
    gpus
}

/// Those whose kernels are run by an interpreter, which finds races and does with floating-point numbers what WGSL allows; natively
/// only. It takes a second for 20 million multiplications.
#[cfg(not(target_arch = "wasm32"))]
pub async fn interpreters() -> Vec<Gpu> {
    let unfused = Arithmetic { fuses: false, reassociates: false, ..Arithmetic::ADVERSARIAL };
    let each = VARIANTS.iter().map(|variant| (variant, Arithmetic::ADVERSARIAL)).chain([(Variant::of(false), unfused)]);
    let mut gpus = Vec::new();
    for (variant, arithmetic) in each {
        let mut gpu = open(variant).await;
        gpu.interpreter = Some(arithmetic);
        gpus.push(gpu);
    }
    gpus
}

#[cfg(target_arch = "wasm32")]
pub async fn interpreters() -> Vec<Gpu> {
    Vec::new()
}

/// All of them.
pub async fn gpus_and_interpreters() -> Vec<Gpu> {
    let mut all = gpus().await;
    all.extend(interpreters().await);
    all
}

async fn open(variant: &'static Variant) -> Gpu {
    Gpu::open(&Options { variant: Some(variant), ..Options::default() }).await.expect("the tests need WebGPU or Vulkan")
}

/// Fails where a value is NaN or further than `tolerance` (relative above 1) from what it should be.
pub fn assert_close(what: &str, got: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let error = (got - expected).abs() / expected.abs().max(1.0);
        assert!(error <= tolerance, "{what}: value {i} is {got}, should be {expected}");
    }
}
