//! The demo model with other metadata or in several files, like those of llama.cpp's `gguf-split`.

#![allow(dead_code, reason = "every test program uses another part")]

use std::collections::HashMap;
use std::io::Cursor;

use candle_core::Device;
use candle_core::quantized::gguf_file::{self, Content, Value};
use candle_core::quantized::{GgmlDType, QTensor};

const DEMO: &[u8] = include_bytes!("../../tests/fixtures/models/demo.gguf");

fn demo() -> Content {
    Content::read(&mut Cursor::new(DEMO)).expect("the demo model")
}

/// Names of the tensors in file order.
fn names(content: &Content) -> Vec<&String> {
    let mut names: Vec<&String> = content.tensor_infos.keys().collect();
    names.sort_by_key(|name| content.tensor_infos[*name].offset);
    names
}

/// The demo model with other texts in its metadata.
pub fn demo_with(texts: &[(&str, &str)]) -> Vec<u8> {
    let content = demo();
    let mut metadata = content.metadata.clone();
    metadata.extend(texts.iter().map(|(key, text)| ((*key).to_owned(), Value::String((*text).to_owned()))));
    write(&content, &metadata, &names(&content))
}

/// The demo model in f32, which needs four times the memory.
pub fn demo_in_f32() -> Vec<u8> {
    let content = demo();
    let wide = |tensor: QTensor| QTensor::quantize(&tensor.dequantize(&Device::Cpu).expect("values"), GgmlDType::F32).expect("a tensor");
    write_as(&content, &content.metadata, &names(&content), wide)
}

/// Opens a thinking section, or suppresses it, like the template of Qwen3.5.
const THINKING_TEMPLATE: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}\
                                 <|im_start|>assistant\n{% if enable_thinking %}<think>\n{% else %}{# </think> #}{% endif %}";

/// The demo model with a template that opens a thinking section. The last two tokens of its vocabulary become the delimiters. The model
/// was not trained to think, so it writes an answer in the section.
pub fn demo_that_thinks() -> Vec<u8> {
    demo_with_thoughts(THINKING_TEMPLATE)
}

/// Like [`demo_that_thinks`], but its template always opens a thinking section, as that of `DeepSeek R1`.
pub fn demo_that_always_thinks() -> Vec<u8> {
    demo_with_thoughts(&THINKING_TEMPLATE.replace("enable_thinking", "true"))
}

fn demo_with_thoughts(template: &str) -> Vec<u8> {
    let content = demo();
    let mut metadata = content.metadata.clone();
    metadata.insert("tokenizer.chat_template".into(), Value::String(template.into()));
    let list = |metadata: &mut HashMap<String, Value>, key: &str, change: &dyn Fn(&mut Vec<Value>)| {
        let Some(Value::Array(values)) = metadata.get_mut(key) else { panic!("{key}") };
        change(values);
    };
    list(&mut metadata, "tokenizer.ggml.merges", &|merges| merges.truncate(merges.len() - 2));
    for (key, values) in [
        ("tokenizer.ggml.tokens", ["<think>", "</think>"].map(|name| Value::String(name.into()))),
        ("tokenizer.ggml.token_type", [Value::I32(4), Value::I32(4)]),
    ] {
        list(&mut metadata, key, &|tokens| {
            let start = tokens.len() - values.len();
            tokens.splice(start.., values.clone());
        });
    }
    write(&content, &metadata, &names(&content))
}

/// The demo model in `n` parts. The first part has all metadata, and each part has some tensors.
pub fn demo_in_parts(n: usize) -> Vec<Vec<u8>> {
    let content = demo();
    let names = names(&content);
    let part = |i: usize, names: &[&String]| {
        let mut metadata = if i == 0 { content.metadata.clone() } else { HashMap::new() };
        metadata.insert("split.no".into(), Value::U16(i as u16));
        metadata.insert("split.count".into(), Value::U16(n as u16));
        metadata.insert("split.tensors.count".into(), Value::I32(content.tensor_infos.len() as i32));
        write(&content, &metadata, names)
    };
    names.chunks(names.len().div_ceil(n)).enumerate().map(|(i, names)| part(i, names)).collect()
}

/// A file with this metadata and these tensors of the demo model.
fn write(content: &Content, metadata: &HashMap<String, Value>, names: &[&String]) -> Vec<u8> {
    write_as(content, metadata, names, |tensor| tensor)
}

fn write_as(content: &Content, metadata: &HashMap<String, Value>, names: &[&String], change: impl Fn(QTensor) -> QTensor) -> Vec<u8> {
    let tensor = |name: &str| content.tensor(&mut Cursor::new(DEMO), name, &Device::Cpu).expect("a tensor");
    let tensors: Vec<_> = names.iter().map(|name| (name.as_str(), change(tensor(name)))).collect();
    let mut metadata: Vec<_> = metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    metadata.sort_by_key(|(key, _)| *key);
    let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let mut bytes = Cursor::new(Vec::new());
    gguf_file::write(&mut bytes, &metadata, &tensors).expect("a model");
    bytes.into_inner()
}
