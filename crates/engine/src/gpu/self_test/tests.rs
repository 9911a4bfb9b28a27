use wasm_bindgen_test::wasm_bindgen_test;

use super::samples::{COLUMNS, ROWS};
use super::*;
use crate::gpu::testing::{config, gpus, in_turn};
use glasscage_model::arch::{ARCHITECTURES, Recurrent};
use glasscage_model::config::{DeltaNet, Recurrence, Window};
use glasscage_model::dequantize::testing::some_blocks;
use glasscage_model::quant::{QUANTS, Quant};

/// Weights are as small as in many models, so that the scales of some types are subnormal f16 values.
fn sample(quant: &'static Quant, rows: usize, columns: usize) -> Sample {
    let bytes = some_blocks(quant, rows, columns, 0.03);
    Sample::new(quant, columns, bytes, true)
}

pub(super) fn samples(names: &[&str]) -> Vec<Sample> {
    QUANTS.iter().filter(|quant| names.contains(&quant.name)).map(|quant| sample(quant, ROWS, COLUMNS)).collect()
}

#[wasm_bindgen_test(unsupported = tokio::test)]
async fn correct_kernels_pass() {
    let gpus = gpus().await;
    for (i, architecture) in ARCHITECTURES.iter().enumerate() {
        let shapes = [(6, 2, 48), (3, 3, 128), (8, 1, 6)];
        // In a browser, each architecture takes one shape.
        let shapes = if cfg!(target_arch = "wasm32") { &shapes[i % 3..][..1] } else { &shapes };
        for &(heads, kv_heads, head_dim) in shapes {
            let rotated_dim = if architecture.rotates_part { 4 } else { head_dim };
            let config = Config { n_heads: heads, n_kv_heads: kv_heads, head_dim, rotated_dim, ..windowed(architecture.name) };
            for gpu in in_turn(&gpus, i) {
                assert_eq!(first_wrong(gpu, &config, &[]).await.unwrap(), None, "{}", gpu.variant.name);
            }
        }
    }
    let large: Vec<Sample> = QUANTS.iter().map(|quant| sample(quant, ROWS, COLUMNS)).collect();
    let small: Vec<Sample> = QUANTS.iter().map(|quant| sample(quant, 1, quant.block)).collect();
    for (gpus, samples) in [(&gpus[..], large), (in_turn(&gpus, 0), small)] {
        for gpu in gpus {
            assert_eq!(first_wrong(gpu, &config("llama", 4, 2, 64), &samples).await.unwrap(), None, "{}", gpu.variant.name);
        }
    }
}

/// A configuration with a window or a recurrent state if the architecture has one, and with partly rotated heads.
pub(super) fn windowed(name: &str) -> Config {
    let config = config(name, 6, 2, 64);
    let window = Window { keys: 16, rope_base: 1e4, layers: vec![true] };
    let net = DeltaNet { n_key_heads: 2, n_value_heads: 4, head_dim: 16 };
    let recurrence = Recurrence { taps: 4, layers: vec![true], delta_net: Some(net) };
    Config {
        dim: 200,
        window: Some(window).filter(|_| config.architecture.unwindowed_every > 0),
        recurrence: Some(recurrence).filter(|_| config.architecture.recurrent == Recurrent::DeltaNet),
        rotated_dim: if config.architecture.rotates_part { 16 } else { config.head_dim },
        ..config
    }
}

#[wasm_bindgen_test(unsupported = tokio::test)]
async fn every_kernel_of_models_is_tested() {
    let mut names: Vec<&str> = Vec::new();
    for gpu in gpus().await {
        for name in ["llama", "olmo2", "lfm2", "qwen35"] {
            first_wrong(&gpu, &windowed(name), &samples(&["Q8_0"])).await.unwrap();
        }
        names.extend(gpu.pipelines.borrow().keys().map(|kernel| kernel.name));
    }
    // These kernels only measure the speed of a GPU.
    let run_by_no_model = ["bandwidth_probe", "fma_probe"];
    let kernels = crate::gpu::kernels::SOURCES.iter().map(|source| source.0).filter(|name| !run_by_no_model.contains(name));
    kernels.for_each(|name| assert!(names.contains(&name), "{name} is not tested"));
}

#[cfg(not(target_arch = "wasm32"))]
#[tokio::test]
async fn run_takes_milliseconds_for_any_model_size() {
    use glasscage_model::source::NativeFile;
    use std::time::Instant;

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/models/demo.gguf");
    let source = NativeFile::open(std::path::Path::new(path)).unwrap();
    let gguf = Gguf::read(&source).await.unwrap();
    let of_1b = Config { dim: 2048, ffn_dim: 8192, ..config("llama", 32, 8, 64) };
    for gpu in gpus().await {
        // The second run does not compile.
        for what in ["first", "again"] {
            let began = Instant::now();
            let test = SelfTest::read(&source, &gguf).await.unwrap();
            assert_eq!(test.run(&gpu).await.unwrap(), None, "{}", gpu.variant.name);
            println!("built-in model, {}, {what}: {:.0} ms", gpu.variant.name, 1e3 * began.elapsed().as_secs_f64());
        }
        let samples = samples(&["Q4_K", "Q6_K"]);
        for what in ["first", "again"] {
            let began = Instant::now();
            assert_eq!(first_wrong(&gpu, &of_1b, &samples).await.unwrap(), None, "{}", gpu.variant.name);
            println!("1B, {}, {what}: {:.0} ms", gpu.variant.name, 1e3 * began.elapsed().as_secs_f64());
        }
        assert!(gpu.stats.peak_bytes.get() < 8 << 20, "{} bytes", gpu.stats.peak_bytes.get());
    }
}
