//! Adds up invented timestamps, and profiles the demo model.

use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use super::*;
use crate::gpu::GpuModel;
use crate::gpu::device::Options;
use crate::gpu::variant::{VARIANTS, Variant};
use crate::lm::LanguageModel;
use crate::lm::sample::Sampler;
use glasscage_model::gguf::Gguf;
use glasscage_model::source::NativeFile;

fn row(kernel: &str, weight_bytes: Option<f64>) -> KernelTime {
    KernelTime { kernel: kernel.into(), dispatches: 1, seconds: 0.0, operations: weight_bytes.map(|bytes| 2.0 * bytes), weight_bytes }
}

#[test]
fn dispatches_add_up_by_kernel_and_matrix_size() {
    let first = vec![(row("matvec", Some(8.0)), [100, 130]), (row("swiglu", None), [132, 133]), (row("matvec", Some(8.0)), [140, 150])];
    let second = vec![(row("matvec", Some(16.0)), [900, 910])];
    let profile = Profile::new(&[first, second], 0.5);
    let sum = |kernel: &str, dispatches, seconds, weight_bytes| KernelTime { dispatches, seconds, ..row(kernel, weight_bytes) };
    assert_eq!(profile.kernels[0], sum("matvec", 2, 20.0, Some(16.0)));
    assert_eq!(profile.kernels[1..], [sum("matvec", 1, 5.0, Some(16.0)), sum("swiglu", 1, 0.5, None)]);
    assert_eq!((profile.seconds_between, profile.seconds()), (4.5, 25.5), "the gap between submissions does not count");
}

/// The demo model on a device with or without timestamps, and three tokens of its answer.
async fn answer(variant: &'static Variant, takes_timestamps: bool) -> (GpuModel, Vec<u32>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/models/demo.gguf");
    let source = NativeFile::open(Path::new(path)).unwrap();
    let gguf = Gguf::read(&source).await.unwrap();
    let gpu = Gpu::open(&Options { variant: Some(variant), takes_timestamps, ..Options::default() }).await.unwrap();
    let loaded = GpuModel::load(Rc::new(gpu), &source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
    let (mut model, _) = loaded.unwrap().unwrap();
    model.reset(20);
    model.gpu().take_profile().await.unwrap();
    model.gpu().stats.dispatches.set(0);
    let (mut token, mut tokens) = (model.next_token(&[1, 2, 3, 4], &mut Sampler::greedy()).await.unwrap(), Vec::new());
    for _ in 0..3 {
        token = model.next_token(&[token], &mut Sampler::greedy()).await.unwrap();
        tokens.push(token);
    }
    (model, tokens)
}

#[tokio::test]
async fn profile_has_every_dispatch_and_does_not_change_tokens() {
    for variant in VARIANTS {
        let (model, tokens) = answer(variant, true).await;
        let profile = model.gpu().take_profile().await.unwrap();
        let counted: usize = profile.kernels.iter().map(|kernel| kernel.dispatches).sum();
        assert_eq!(counted, model.gpu().stats.dispatches.get());
        assert!(profile.seconds() > 0.0 && profile.kernels.is_sorted_by(|a, b| a.seconds >= b.seconds), "{profile:?}");
        let product = profile.kernels.iter().find(|kernel| kernel.kernel.starts_with("matvec")).expect("decode steps multiply");
        assert!(product.operations > Some(0.0) && product.weight_bytes > Some(0.0), "{product:?}");
        assert_eq!(model.gpu().take_profile().await.unwrap(), Profile::default(), "each dispatch counts once");

        let (plain, plain_tokens) = answer(variant, false).await;
        assert_eq!(tokens, plain_tokens);
        assert_eq!(plain.gpu().take_profile().await.unwrap(), Profile::default());
    }
}
