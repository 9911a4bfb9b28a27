//! Shapes and tensor types of the models that are measured: those of the example `random_model`.

/// Tokens of Qwen 3, which all of these models have.
pub const VOCABULARY: usize = 151_936;

/// A model whose matrices all have one type. Its embedding is also its LM head.
#[derive(Clone)]
pub struct Model {
    pub name: &'static str,
    pub layers: usize,
    pub dim: usize,
    ffn: usize,
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
    pub tensor_type: TensorType,
}

/// A tensor type: weights and bytes of a block in the file.
#[derive(Clone, Copy)]
pub struct TensorType {
    pub name: &'static str,
    block: usize,
    block_bytes: usize,
}

pub const TENSOR_TYPES: [TensorType; 4] = [
    TensorType { name: "Q8_0", block: 32, block_bytes: 34 },
    TensorType { name: "Q4_K", block: 256, block_bytes: 144 },
    TensorType { name: "Q6_K", block: 256, block_bytes: 210 },
    TensorType { name: "F16", block: 1, block_bytes: 2 },
];

/// Each shape with each tensor type.
pub fn models() -> Vec<Model> {
    let of_type = |tensor_type| {
        [
            Model { name: "0.6b", layers: 28, dim: 1024, ffn: 3072, heads: 16, kv_heads: 8, head_dim: 128, tensor_type },
            Model { name: "1b", layers: 16, dim: 2048, ffn: 8192, heads: 32, kv_heads: 8, head_dim: 64, tensor_type },
        ]
    };
    let mut models: Vec<Model> = TENSOR_TYPES.into_iter().flat_map(of_type).collect();
    models.sort_by_key(|model| model.name);
    models
}

impl TensorType {
    /// Bytes of a weight in GPU memory, where blocks are whole words.
    pub fn bytes_in_memory(&self) -> f64 {
        let bytes = if self.block == 1 { self.block_bytes } else { self.block_bytes.next_multiple_of(4) };
        bytes as f64 / self.block as f64
    }
}

impl Model {
    /// The file that `gpu_run.sh` makes.
    pub fn file(&self) -> String {
        format!("random-{}-{}.gguf", self.name, self.tensor_type.name)
    }

    /// Values of all query heads of a row.
    pub fn query_width(&self) -> usize {
        self.heads * self.head_dim
    }

    /// Rows and columns of the matrices of a layer, as they are multiplied.
    pub fn products(&self) -> [[usize; 2]; 4] {
        let (dim, queries) = (self.dim, self.query_width());
        [[queries + 2 * self.kv_heads * self.head_dim, dim], [dim, queries], [2 * self.ffn, dim], [dim, self.ffn]]
    }

    /// Number of weights in the matrices of all layers.
    pub fn layer_weights(&self) -> f64 {
        (self.layers * self.products().iter().map(|[rows, columns]| rows * columns).sum::<usize>()) as f64
    }

    pub fn head_weights(&self) -> f64 {
        (VOCABULARY * self.dim) as f64
    }

    /// Bytes of all matrices in the file.
    pub fn file_bytes(&self) -> f64 {
        (self.layer_weights() + self.head_weights()) * self.tensor_type.block_bytes as f64 / self.tensor_type.block as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_real_models() {
        let models = models();
        // Qwen3-0.6B has 440 million weights in its layers, Llama-3.2-1B 973 million.
        let sizes = [0, 4].map(|i| ((models[i].layer_weights() / 1e6).round(), (models[i].head_weights() / 1e6).round()));
        assert_eq!(sizes, [(440.0, 156.0), (973.0, 311.0)]);
        assert_eq!((models[0].file(), models[7].file()), ("random-0.6b-Q8_0.gguf".into(), "random-1b-F16.gguf".into()));
    }

    #[test]
    fn blocks_are_whole_words_in_memory() {
        let bytes = TENSOR_TYPES.map(|tensor_type| tensor_type.bytes_in_memory() * tensor_type.block as f64);
        assert_eq!(bytes, [36.0, 144.0, 212.0, 2.0]);
    }

    /// The script makes and measures these files.
    #[test]
    fn pack_has_each_model() {
        let script = include_str!("../../gpu_run.sh");
        for model in models() {
            assert!(script.contains(&format!("{}/{}", model.name, model.tensor_type.name)), "{}", model.file());
        }
    }
}
