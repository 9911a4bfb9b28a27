//! Fuzzes model files: headers, split files, and damaged weights.

#[path = "../../models/mod.rs"]
mod small_models;

use std::ops::ControlFlow;
use std::sync::LazyLock;

use arbitrary::Unstructured;
use candle_core::quantized::GgmlDType;
use futures::executor::block_on;
use glasscage::cpu::CandleModel;
use glasscage::model::chat::{ChatTemplate, Date, frame_within};
use glasscage::model::config::Config;
use glasscage::model::gguf::Gguf;
use glasscage::model::source::{BytesInMemory, Joined};
use glasscage::model::summary::ModelSummary;
use glasscage::model::tensors;
use glasscage::model::tokenizer::Tokenizer;

use crate::gguf;

const PROMPT: &str = "Tom has 5 apples. <|im_end|>\u{1f600} He eats 2.";
/// Maximum number of tokens in a prompt.
const ROOM: usize = 4_096;

/// A small model of each architecture. Matrices have few bits, so that many inputs are read per second. Norms are F32.
static MODELS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let kinds = [GgmlDType::Q4K, GgmlDType::Q6K, GgmlDType::Q8_0];
    small_models::SHAPES.iter().zip(kinds.iter().cycle()).map(|(shape, &kind)| small_models::file(shape, kind)).collect()
});

pub fn header_of_bytes(bytes: &[u8]) {
    read(bytes);
}

pub fn header_of_fields(bytes: &[u8]) {
    if let Ok(file) = gguf::header(&mut Unstructured::new(bytes)) {
        read(&file);
    }
}

/// Several parts, each with an arbitrary header.
pub fn split_file(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let parts: Vec<_> = (0..3).map_while(|_| gguf::header(&mut u).ok()).map(BytesInMemory).collect();
    if !parts.is_empty()
        && let Ok(gguf) = block_on(Gguf::read(&Joined::new(parts)))
    {
        understand(&gguf);
    }
}

/// A model with some changed bytes, which must be refused or loaded.
pub fn weights(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let Ok(mut file) = u.choose(&MODELS).cloned() else { return };
    while let (Ok(at), Ok(change)) = (u.int_in_range(0..=file.len() - 1), u.arbitrary::<[u8; 4]>()) {
        let end = (at + change.len()).min(file.len());
        file[at..end].copy_from_slice(&change[..end - at]);
        if u.is_empty() {
            break;
        }
    }
    let Ok(gguf) = Gguf::parse(&file, file.len() as u64) else { return };
    understand(&gguf);
    block_on(CandleModel::load(&BytesInMemory(file), &gguf, &mut async |_| ControlFlow::Continue(()))).ok();
}

fn read(file: &[u8]) {
    let gguf = Gguf::parse(file, file.len() as u64);
    ModelSummary::of(file).ok();
    if let Ok(gguf) = gguf {
        understand(&gguf);
    }
}

/// Derives everything that we derive from a header.
fn understand(gguf: &Gguf) {
    if let Ok(config) = Config::from_gguf(gguf) {
        tensors::check(gguf, &config).ok();
    }
    let Ok(tokenizer) = Tokenizer::from_metadata(&gguf.metadata) else { return };
    let Ok(template) = ChatTemplate::from_metadata(&gguf.metadata, &tokenizer) else { return };
    let date = Date::new(2026, 11, 23).expect("a day");
    frame_within(ROOM, template.as_ref(), &tokenizer, PROMPT, date, true).ok();
}
