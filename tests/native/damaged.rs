//! Model files with invalid weights or settings. Loading must reject them, because they would silently produce wrong scores.

use std::ops::ControlFlow;
use std::rc::Rc;

use candle_core::quantized::GgmlDType;
use glasscage::cpu::CandleModel;
use glasscage::gpu::GpuModel;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::model::config::Config;
use glasscage::model::gguf::{Gguf, Value};
use glasscage::model::source::BytesInMemory;

use crate::models::{SHAPES, file};

/// A model in which a tensor ends with these four bytes.
fn with_end_of(tensor: &str, value: [u8; 4]) -> (Gguf, BytesInMemory) {
    let mut bytes = file(&SHAPES[0], GgmlDType::F32);
    let gguf = Gguf::parse(&bytes, bytes.len() as u64).unwrap();
    let tensor = gguf.tensor(tensor).unwrap();
    let end = tensor.offset as usize + tensor.bytes;
    bytes[end - 4..end].copy_from_slice(&value);
    (gguf, BytesInMemory(bytes))
}

#[tokio::test]
async fn non_finite_weight_is_refused_by_both_engines() {
    let gpu = Rc::new(Gpu::open(&Options::default()).await.expect("a Vulkan driver"));
    for (name, value) in [("output.weight", f32::NEG_INFINITY), ("blk.1.ffn_norm.weight", f32::NAN), ("token_embd.weight", f32::INFINITY)] {
        let (gguf, source) = with_end_of(name, value.to_le_bytes());
        let expected = format!("tensor {name} has a weight that is not a number");
        let on_cpu = CandleModel::load(&source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
        assert!(on_cpu.is_err_and(|error| error.to_string().contains(&expected)));
        let on_gpu = GpuModel::load(gpu.clone(), &source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
        assert!(on_gpu.is_err_and(|error| error.to_string().contains(&expected)));
    }
}

#[test]
fn settings_of_all_architectures_are_checked() {
    for shape in SHAPES {
        let bytes = file(shape, GgmlDType::F32);
        let mut gguf = Gguf::parse(&bytes, bytes.len() as u64).unwrap();
        assert!(Config::from_gguf(&gguf).is_ok());
        let key = format!("{}.final_logit_softcapping", shape.architecture);
        gguf.metadata.set(&key, Value::F64(0.0625));
        assert!(Config::from_gguf(&gguf).unwrap_err().to_string().contains(&key));
    }
}
