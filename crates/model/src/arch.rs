//! The architectures: rows of settings. The transformer branches on a setting, never on a model's name.

/// How queries and keys are rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rope {
    /// Neighboring values make a pair (ggml's "norm").
    Interleaved,
    /// Value i pairs with value `i + head_dim / 2` (ggml's "neox").
    Halves,
}

/// Position of RMSNorm, relative to attention and to the feed-forward network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norms {
    /// On their input from the residual stream.
    Before,
    /// On their output, before it is added to the residual stream.
    After,
    Both,
}

/// RMSNorm of queries and keys, before rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QkNorm {
    None,
    /// Over each head.
    Heads,
    /// Over all query heads together, and over all key heads together.
    Whole,
}

/// Activation function for the gate of the feed-forward network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    Silu,
    /// GELU with the tanh approximation.
    Gelu,
}

/// Replacement for attention in the layers that have none according to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recurrent {
    None,
    /// A gated convolution over a few tokens.
    ShortConvolution,
    /// Gated DeltaNet after a convolution: a recurrent state of keys and values that each token decays and corrects.
    DeltaNet,
}

/// Differences between decoder-only transformers with RMSNorm, rotary positions and gated feed-forward networks.
#[derive(Debug, PartialEq, Eq)]
pub struct Architecture {
    /// GGUF `general.architecture`.
    pub name: &'static str,
    pub rope: Rope,
    /// Biases on the query, key and value projections.
    pub qkv_bias: bool,
    pub qk_norm: QkNorm,
    pub norms: Norms,
    pub gate: Gate,
    /// In every group of this many layers, the last has no rotary embedding. 0: all layers have it.
    pub unrotated_every: usize,
    /// Whether embeddings are multiplied by the square root of their width.
    pub scales_by_width: bool,
    /// If the file states a window size, all layers have a window except the last in every group of this many layers. The file may list
    /// other layers. 0: the window is not read.
    pub unwindowed_every: usize,
    /// Replacement for attention in some layers.
    pub recurrent: Recurrent,
    /// Whether the query projection also contains gates for the head outputs.
    pub gates_attention: bool,
    /// Whether the file may limit rotation to the first values of a head.
    pub rotates_part: bool,
    /// Tensors of the norm before the feed-forward network, and of the norm after the last layer.
    pub ffn_norm: &'static str,
    pub last_norm: &'static str,
    /// Settings that this architecture reads. Other architectures reject them: see [`super::config`].
    pub reads: &'static [&'static str],
}

const LLAMA: Architecture = Architecture {
    name: "llama",
    rope: Rope::Interleaved,
    qkv_bias: false,
    qk_norm: QkNorm::None,
    norms: Norms::Before,
    gate: Gate::Silu,
    unrotated_every: 0,
    scales_by_width: false,
    unwindowed_every: 0,
    recurrent: Recurrent::None,
    gates_attention: false,
    rotates_part: false,
    ffn_norm: "ffn_norm.weight",
    last_norm: "output_norm.weight",
    reads: &[],
};

const GRANITE: &[&str] = &["embedding_scale", "residual_scale", "attention.scale", "logit_scale", "rope.scaling.finetuned"];

/// All supported architectures. llama.cpp has a file of the same name for each in src/models.
pub const ARCHITECTURES: &[Architecture] = &[
    // Llama 2 and 3, TinyLlama, SmolLM: the converter permutes q and k, so pairs are neighbors.
    LLAMA,
    Architecture { name: "qwen2", rope: Rope::Halves, qkv_bias: true, ..LLAMA },
    Architecture { name: "qwen3", rope: Rope::Halves, qk_norm: QkNorm::Heads, ..LLAMA },
    Architecture { name: "granite", reads: GRANITE, ..LLAMA },
    Architecture { name: "smollm3", unrotated_every: 4, ..LLAMA },
    Architecture { name: "olmo2", rope: Rope::Halves, qk_norm: QkNorm::Whole, norms: Norms::After, ..LLAMA },
    Architecture {
        name: "gemma3",
        rope: Rope::Halves,
        qk_norm: QkNorm::Heads,
        norms: Norms::Both,
        gate: Gate::Gelu,
        scales_by_width: true,
        unwindowed_every: 6,
        reads: &["attention.sliding_window_pattern"],
        ..LLAMA
    },
    Architecture {
        name: "lfm2",
        rope: Rope::Halves,
        qk_norm: QkNorm::Heads,
        recurrent: Recurrent::ShortConvolution,
        last_norm: "token_embd_norm.weight",
        ..LLAMA
    },
    // The dense models of Qwen 3.5 and 3.6. Layers that predict more than the next token are not run.
    Architecture {
        name: "qwen35",
        rope: Rope::Halves,
        qk_norm: QkNorm::Heads,
        recurrent: Recurrent::DeltaNet,
        gates_attention: true,
        rotates_part: true,
        ffn_norm: "post_attention_norm.weight",
        reads: &["nextn_predict_layers"],
        ..LLAMA
    },
];

impl Architecture {
    /// Whether attention and feed-forward network read a normalized residual stream.
    pub fn norms_before(&self) -> bool {
        self.norms != Norms::After
    }

    /// Whether their outputs are normalized before they are added to it.
    pub fn norms_after(&self) -> bool {
        self.norms != Norms::Before
    }
}

/// The architecture of this name.
pub fn by_name(name: &str) -> Option<&'static Architecture> {
    ARCHITECTURES.iter().find(|architecture| architecture.name == name)
}

/// Names of all architectures, for messages.
pub fn names() -> String {
    ARCHITECTURES.iter().map(|architecture| architecture.name).collect::<Vec<_>>().join(", ")
}
