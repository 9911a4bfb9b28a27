//! `glasscage quantize` rounds weights as gguf-py does (`tests/golden/quantize.py`), and keeps everything else of a model.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use glasscage::model::gguf::Gguf;
use serde_json::Value as Json;

use crate::cli::{complaint, glasscage};
use crate::split_model::demo_in_parts;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf");
const TYPES: [&str; 5] = ["q4_0", "q4_1", "q5_0", "q5_1", "q8_0"];
const MATRIX: &str = "blk.0.ffn_up.weight";
const EMBEDDING: &str = "token_embd.weight";
const NORM: &str = "output_norm.weight";

fn golden() -> Json {
    serde_json::from_str(include_str!("../golden/quantize.json")).unwrap()
}

/// The bytes that a text of hexadecimal digits stands for.
fn bytes(hex: &Json) -> Vec<u8> {
    let digits = hex.as_str().unwrap().as_bytes();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// An empty folder for the files of one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("quantize-{name}"));
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs the command, which has to succeed. Returns the written file.
fn quantized(model: &Path, options: &[&str], out: &Path) -> Vec<u8> {
    let arguments = [&["quantize", "--model", text(model), "--out", text(out)], options].concat();
    let output = glasscage(&arguments, "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(out).unwrap()
}

fn parse(file: &[u8]) -> Gguf {
    Gguf::parse(file, file.len() as u64).unwrap()
}

/// The type and the bytes of a tensor.
fn tensor<'a>(file: &'a [u8], name: &str) -> (&'static str, &'a [u8]) {
    let gguf = parse(file);
    let tensor = gguf.tensor(name).unwrap();
    (tensor.quant.name, &file[tensor.offset as usize..][..tensor.bytes])
}

/// A file with the golden values as a matrix and as an embedding, and with a norm.
fn file_of_golden_values() -> Vec<u8> {
    let golden = golden();
    let values: Vec<f32> = bytes(&golden["values"]).as_chunks().0.iter().map(|&value| f32::from_le_bytes(value)).collect();
    let columns = golden["columns"].as_u64().unwrap() as usize;
    let of = |values: &[f32], shape: &[usize]| {
        QTensor::quantize(&Tensor::from_slice(values, shape, &Device::Cpu).unwrap(), GgmlDType::F32).unwrap()
    };
    let matrix = of(&values, &[values.len() / columns, columns]);
    let norm = of(&values[..columns], &[columns]);
    let (name, file_type) = (Value::String("golden".into()), Value::U32(0));
    let mut file = Cursor::new(Vec::new());
    let metadata = [("general.name", &name), ("general.file_type", &file_type)];
    gguf_file::write(&mut file, &metadata, &[(MATRIX, &matrix), (NORM, &norm), (EMBEDDING, &matrix)]).unwrap();
    file.into_inner()
}

#[test]
fn blocks_equal_those_of_gguf_py() {
    let folder = folder("golden");
    let (model, golden) = (folder.join("f32.gguf"), golden());
    let original = file_of_golden_values();
    std::fs::write(&model, &original).unwrap();
    for kind in TYPES {
        let file = quantized(&model, &["--type", kind, "--embedding", "q8_0"], &folder.join("out.gguf"));
        assert_eq!(tensor(&file, MATRIX), (&*kind.to_uppercase(), &bytes(&golden[kind])[..]), "{kind}");
        assert_eq!(tensor(&file, EMBEDDING), ("Q8_0", &bytes(&golden["q8_0"])[..]), "{kind}");
        assert_eq!(tensor(&file, NORM), tensor(&original, NORM), "{kind}");
    }
}

#[test]
fn whole_file_keeps_metadata_and_tokens_of_split_model() {
    let folder = folder("split");
    for (i, part) in demo_in_parts(3).iter().enumerate() {
        std::fs::write(folder.join(format!("demo-{:05}-of-00003.gguf", i + 1)), part).unwrap();
    }
    let (out, part, other) = (folder.join("whole.gguf"), folder.join("demo-00002-of-00003.gguf"), folder.join("demo-00003-of-00003.gguf"));
    let refused = complaint(&["quantize", "--model", text(&part), "--type", "q8_0", "--out", text(&other)], "");
    assert!(refused.contains("choose another name"), "{refused}");
    let file = quantized(&part, &["--type", "q8_0"], &out);
    let (whole, original) = (parse(&file), std::fs::read(DEMO).unwrap());
    assert_eq!((whole.is_split(), whole.metadata.u64("general.file_type")), (false, Ok(Some(7))));
    for key in ["general.architecture", "tokenizer.ggml.model", "tokenizer.chat_template"] {
        assert_eq!(whole.metadata.get(key), parse(&original).metadata.get(key), "{key}");
    }
    let ids = |model: &str| glasscage(&["tokenize", "--model", model], "{\"text\": \"Ann has 3 figs.\"}\n").stdout;
    assert_eq!(ids(text(&out)), ids(DEMO));
    let scores = glasscage(&["score", "--model", text(&out)], "{\"text\": \"Ann has 3 figs.\"}\n");
    assert!(scores.status.success(), "{}", String::from_utf8_lossy(&scores.stderr));
}

#[test]
fn impossible_requests_leave_files_as_they_are() {
    let folder = folder("refused");
    let model = folder.join("model.gguf");
    std::fs::copy(DEMO, &model).unwrap();
    let refused = |model: &Path, out: &Path| complaint(&["quantize", "--model", text(model), "--type", "q4_0", "--out", text(out)], "");
    assert!(refused(&model, &model).contains("choose another name"));
    assert!(refused(&model, &folder.join("none/out.gguf")).contains("cannot write"));
    let cut = folder.join("cut.gguf");
    std::fs::write(&cut, &std::fs::read(DEMO).unwrap()[..100_000]).unwrap();
    assert!(refused(&cut, &folder.join("out.gguf")).contains("cut off"));
    assert_eq!(std::fs::read(&model).unwrap(), std::fs::read(DEMO).unwrap());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "neither an output file nor a part of one");
}
