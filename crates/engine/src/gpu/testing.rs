//! Helpers for kernel tests.

#[cfg(not(target_arch = "wasm32"))]
use kernel_interpreter::Arithmetic;

use super::device::{Gpu, Options};
use super::variant::{VARIANTS, Variant};
pub use glasscage_core::rng::random;
pub use glasscage_model::config::testing::config;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Marks memory that kernels must not write.
pub const SENTINEL: f32 = -12345.5;

/// Opens the GPU of this machine once per variant.
pub async fn gpus() -> Vec<Gpu> {
    let mut gpus = Vec::new();
    for variant in VARIANTS {
        gpus.push(open(variant).await);
    }
    gpus
}

/// GPUs whose kernels run in an interpreter. It finds races, and varies floating-point results within what WGSL allows. Natively only. 20
/// million multiplications take about a second.
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

/// GPUs of all variants, and interpreters.
pub async fn gpus_and_interpreters() -> Vec<Gpu> {
    let mut all = gpus().await;
    all.extend(interpreters().await);
    all
}

/// The GPUs for the `i`-th of many cases: all natively. A browser takes a second to compile a kernel, so there they take turns.
pub fn in_turn(gpus: &[Gpu], i: usize) -> &[Gpu] {
    if cfg!(target_arch = "wasm32") { &gpus[i % gpus.len()..][..1] } else { gpus }
}

async fn open(variant: &'static Variant) -> Gpu {
    Gpu::open(&Options { variant: Some(variant), ..Options::default() }).await.expect("the tests need WebGPU or Vulkan")
}

/// Fails if a value is NaN or differs from `expected` by more than `tolerance` (relative for values above 1).
pub fn assert_close(what: &str, got: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let error = (got - expected).abs() / expected.abs().max(1.0);
        assert!(error <= tolerance, "{what}: value {i} is {got}, should be {expected}");
    }
}
