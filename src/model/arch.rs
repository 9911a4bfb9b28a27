//! The architectures: rows of settings. The transformer branches on a setting, never on a model's name.

/// How queries and keys are rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rope {
    /// Neighboring values make a pair (ggml's "norm").
    Interleaved,
    /// Value i pairs with value `i + head_dim / 2` (ggml's "neox").
    Halves,
}

/// What differs between decoder-only transformers with RMSNorm, rotary positions and SwiGLU.
#[derive(Debug, PartialEq, Eq)]
pub struct Architecture {
    /// GGUF `general.architecture`.
    pub name: &'static str,
    pub rope: Rope,
    /// Biases on the query, key and value projections.
    pub qkv_bias: bool,
    /// RMSNorm over each head of queries and keys, before rotation.
    pub qk_norm: bool,
}

/// All architectures that can be run.
pub const ARCHITECTURES: &[Architecture] = &[
    // Llama 2 and 3, TinyLlama, SmolLM: the converter permutes q and k, so pairs are neighbors.
    Architecture { name: "llama", rope: Rope::Interleaved, qkv_bias: false, qk_norm: false },
    Architecture { name: "qwen2", rope: Rope::Halves, qkv_bias: true, qk_norm: false },
    Architecture { name: "qwen3", rope: Rope::Halves, qkv_bias: false, qk_norm: true },
];

/// The architecture of this name.
pub fn by_name(name: &str) -> Option<&'static Architecture> {
    ARCHITECTURES.iter().find(|architecture| architecture.name == name)
}

/// Names of all architectures, for messages.
pub fn names() -> String {
    ARCHITECTURES.iter().map(|architecture| architecture.name).collect::<Vec<_>>().join(", ")
}
