//! For `cargo xtask gpu-budgets`: writes the kernels for real GPUs into a folder, for their compilers. Also writes `traffic.json`, the
//! memory reads of the kernels, counted by an interpreter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use glasscage::gpu::catalog::{Shader, shaders};
use glasscage::gpu::format::row_words;
use glasscage::gpu::variant::Variant;
use glasscage::model::quant::QUANTS;
use kernel_interpreter::{Access, Arithmetic, Kernel};
use serde_json::{Value, json};

/// Number of invocations that a GPU runs together; below, 4-byte words in a cache line.
const WAVE: u32 = 32;
const LINE_WORDS: usize = 32;

/// Tensor types with budgets.
const QUANTS_IN_BUDGETS: [&str; 4] = ["F16", "Q8_0", "Q4_K", "Q6_K"];

/// Runs the first kernel whose name begins with `name`, on the bindings that `bindings` creates. Returns its name and its reads.
fn reads(shaders: &[Shader], name: &str, bindings: impl Fn(&Kernel) -> Vec<Vec<u32>>, workgroups: [u32; 3]) -> (String, Vec<Access>) {
    let shader = shaders.iter().find(|shader| shader.name.starts_with(name)).unwrap_or_else(|| panic!("there is no kernel {name}"));
    let kernel = Kernel::new(&shader.wgsl, Arithmetic::PLAIN).unwrap_or_else(|error| panic!("{name}: {error}"));
    let accesses = kernel.trace(&mut bindings(&kernel), workgroups, 1).unwrap_or_else(|error| panic!("{name}: {error}"));
    (shader.name.clone(), accesses.into_iter().filter(|access| !access.is_write).collect())
}

fn members(kernel: &Kernel, binding: usize, values: &[(&str, u32)]) -> Vec<u32> {
    kernel.members(binding, values).unwrap_or_else(|error| panic!("{error}"))
}

/// Mean number of cache lines that one load of W touches in a wave: a tile of 64 rows and 256 columns with 64 tokens.
fn lines_a_load(shaders: &[Shader], quant: &str) -> Value {
    let bindings = |kernel: &Kernel| {
        let row_words = row_words(QUANTS.iter().find(|other| other.name == quant).expect("a tensor type"), 256);
        let sizes = [("n", 64), ("groups", 16), ("row_words", row_words as u32), ("x_stride", 64), ("y_stride", 64), ("rows", 64)];
        vec![members(kernel, 0, &sizes), vec![0; 64 * row_words], vec![0; 64 * 256], vec![0; 64 * 64]]
    };
    let (name, reads) = reads(shaders, &format!("matmul_tiles.{quant}"), bindings, [1, 1, 1]);
    let mut loads: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
    for read in reads.iter().filter(|read| read.binding == 1) {
        let lines = loads.entry((read.workgroup, read.lane / WAVE, read.operation, read.round)).or_default();
        lines.extend([read.word / LINE_WORDS, (read.word + read.n - 1) / LINE_WORDS]);
    }
    let touched: usize = loads.values().map(BTreeSet::len).sum();
    json!({ "what": "lines", "kernel": name, "figure": touched as f64 / loads.len() as f64 })
}

/// Words of keys and values that attention reads, relative to those that each row and head attends to: the last 16 rows of a text of 64,
/// with the heads of a model with 0.6 B parameters.
fn keys_and_values(shaders: &[Shader]) -> Value {
    let [text, n, heads, kv_heads, dim] = [64, 16, 16, 8, 128_u32];
    let width = (heads + 2 * kv_heads) * dim;
    let bindings = |kernel: &Kernel| {
        let sizes =
            [("n", n), ("n_heads", heads), ("n_kv_heads", kv_heads), ("head_dim", dim), ("q_stride", width), ("y_stride", heads * dim)];
        let rows = (text - n..text).flat_map(|i| members(kernel, 1, &[("position", i), ("slot", i), ("prefix_end", i + 1)]));
        let zeros = |length: u32| vec![0; length as usize];
        let cache = zeros(text * 2 * kv_heads * dim);
        vec![members(kernel, 0, &sizes), rows.collect(), zeros(n * width), cache.clone(), cache, zeros(n * heads * dim)]
    };
    let (name, reads) = reads(shaders, "attention_tiles.SLICES=8u", bindings, [kv_heads, n * heads / kv_heads / 32, 1]);
    let words: usize = reads.iter().filter(|read| [3, 4].contains(&read.binding)).map(|read| read.n).sum();
    let seen: u32 = (text - n..text).map(|i| (i + 1) * heads * 2 * dim).sum();
    json!({ "what": "keys and values", "kernel": name, "figure": words as f64 / f64::from(seen) })
}

/// Number of times that sampling reads the vocabulary.
fn vocabulary_passes(shaders: &[Shader]) -> Value {
    const VOCAB: u32 = 4096;
    let bindings = |kernel: &Kernel| {
        let [temperature, top_p, random] = [1.0_f32, 0.9, 0.5].map(f32::to_bits);
        let draw = [("temperature", temperature), ("top_k", 40), ("top_p", top_p), ("random", random)];
        let logits = (0..VOCAB).map(|i| (i * 7919 % 1000) as f32 / 125.0).map(f32::to_bits);
        vec![members(kernel, 0, &[("n", VOCAB)]), logits.collect(), members(kernel, 2, &draw), vec![0; 2]]
    };
    let (name, reads) = reads(shaders, "sample", bindings, [1, 1, 1]);
    let words: usize = reads.iter().filter(|read| read.binding == 1).map(|read| read.n).sum();
    json!({ "what": "vocabulary", "kernel": name, "figure": words as f64 / f64::from(VOCAB) })
}

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("the folder to write to"));
    let shaders = shaders(Variant::of(false));
    for shader in &shaders {
        std::fs::write(folder.join(format!("{}.wgsl", shader.name)), &shader.wgsl)?;
    }
    let mut traffic: Vec<Value> = QUANTS_IN_BUDGETS.iter().map(|quant| lines_a_load(&shaders, quant)).collect();
    traffic.extend([keys_and_values(&shaders), vocabulary_passes(&shaders)]);
    std::fs::write(folder.join("traffic.json"), json!(traffic).to_string())
}
