//! The kernel list contains every kernel that the engine compiles, and the command line writes it.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use candle_core::quantized::GgmlDType;
use glasscage::gpu::GpuModel;
use glasscage::gpu::catalog::shaders;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::gpu::variant::{VARIANTS, Variant};
use glasscage::lm::sample::Sampler;
use glasscage::lm::{Edit, InfillRequest, LanguageModel, Pass, ScoreRequest};
use glasscage::model::gguf::Gguf;
use glasscage::model::source::BytesInMemory;

use crate::is_thorough;
use crate::models::{self, SHAPES, TOKENS};

const ATTENDED: [Range<usize>; 2] = [3..20, 20..40];
const SPANS: [Range<usize>; 2] = [20..24, 50..51];

/// The shaders that are compiled when a model runs everything that it supports.
async fn compiled(variant: &'static Variant, shape: &models::Shape) -> Vec<String> {
    let file = BytesInMemory(models::file(shape, GgmlDType::Q8_0));
    let gguf = Gguf::read(&file).await.unwrap();
    let gpu = Rc::new(Gpu::open(&Options { variant: Some(variant), ..Options::default() }).await.expect("a Vulkan driver"));
    let model = GpuModel::load(gpu.clone(), &file, &gguf, &mut async |_| ControlFlow::Continue(())).await;
    let mut model = model.unwrap().unwrap().0;
    for mut sampler in [Sampler::greedy(), Sampler::new(1.0, None, None, 1)] {
        model.reset(9);
        model.next_token(&TOKENS[..7], &mut sampler).await.unwrap();
        model.next_token(&TOKENS[7..8], &mut sampler).await.unwrap();
    }
    let passes = [Pass { edits: vec![Edit::new(20, &[1; 5])] }];
    let scored = ScoreRequest::new(&TOKENS, 40..TOKENS.len(), &passes);
    let job = ScoreRequest { divergences: true, attended: &ATTENDED, top_tokens: true, ..scored };
    model.score(&job, async |_, _| ControlFlow::Continue(())).await.unwrap();
    let infill = InfillRequest { tokens: &TOKENS, spans: &SPANS, forbidden: &[], ends: &[], start_token: 2 };
    model.infill(&infill, &mut async |()| ControlFlow::Continue(())).await.unwrap().unwrap();
    gpu.peak_throughput().await.unwrap();
    gpu.shaders()
}

#[test]
fn all_compiled_kernels_are_listed() {
    for (v, variant) in VARIANTS.iter().enumerate() {
        let listed: BTreeSet<String> = shaders(variant).into_iter().map(|shader| shader.wgsl).collect();
        // Test the variants in turn, unless all cases run.
        let shapes = SHAPES.iter().filter(|shape| shape.head_dim == 64).enumerate();
        for (_, shape) in shapes.filter(|(i, _)| is_thorough() || i % VARIANTS.len() == v) {
            for shader in pollster::block_on(compiled(variant, shape)) {
                // The test's Qwen 3.5 has recurrent heads of 16 values, not 64 or 128.
                let shader = shader.replace("const VECS = 4u;", "const VECS = 16u;");
                assert!(listed.contains(&shader), "{}, {}: not listed:\n{shader}", variant.name, shape.name);
            }
        }
    }
}

#[test]
fn command_line_writes_one_file_per_kernel() {
    let folder = std::env::temp_dir().join(format!("glasscage-kernels-{}", std::process::id()));
    let folder_name = folder.to_str().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_glasscage")).args(["kernels", "--out", folder_name]).output().unwrap().status;
    assert!(status.success());
    for variant in VARIANTS {
        for shader in shaders(variant) {
            let file = Path::new(variant.name).join(format!("{}.wgsl", shader.name));
            assert_eq!(std::fs::read_to_string(folder.join(file)).unwrap(), shader.wgsl);
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
