//! The architectures: rows of settings. The transformer branches on a setting, never on a model's name.

/// How queries and keys are rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rope {
    /// Neighboring values make a pair (ggml's "norm").
    Interleaved,
    /// Value i pairs with value `i + head_dim / 2` (ggml's "neox").
    Halves,
}

/// Where RMSNorm stands around attention, and around the feed-forward network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norms {
    /// Over what they read of the residual stream.
    Before,
    /// Over what they add to it.
    After,
    Both,
}

/// RMSNorm of queries and keys, before rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QkNorm {
    None,
    /// Over each head.
    Heads,
    /// Over all heads of queries together, and over all of keys.
    Whole,
}

/// What the gate of the feed-forward network goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    Silu,
    /// By its approximation with tanh.
    Gelu,
}

/// What layers have in attention's place where the file says that they have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recurrent {
    None,
    /// A gated convolution over a few tokens.
    ShortConvolution,
    /// A memory of keys and values that each token decays and corrects (Gated DeltaNet), after a convolution.
    DeltaNet,
}

/// What differs between decoder-only transformers with RMSNorm, rotary positions and gated feed-forward networks.
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
    /// The last one of every so many layers does not rotate; 0 where all do.
    pub unrotated_every: usize,
    /// Embeddings are multiplied by the square root of their width.
    pub scales_by_width: bool,
    /// Where the file says how many keys a window has, all layers have it but the last one of every so many, unless the file says which
    /// layers; 0 where the window is not read.
    pub unwindowed_every: usize,
    /// What stands in place of attention in some layers.
    pub recurrent: Recurrent,
    /// Queries come with a gate for what their heads put out.
    pub gates_attention: bool,
    /// The file may say that only the first values of a head rotate.
    pub rotates_part: bool,
    /// The tensors of the norm before the feed-forward network, and after the last layer.
    pub ffn_norm: &'static str,
    pub last_norm: &'static str,
    /// Settings of the file that are read, while other architectures refuse them: see [`super::config`].
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

/// All architectures that can be run; llama.cpp has a file of this name for each in src/models.
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
    // Qwen 3.5 and 3.6, the dense ones. Layers that predict more than the next token are not run.
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

    /// Whether what they add to it is normalized.
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
