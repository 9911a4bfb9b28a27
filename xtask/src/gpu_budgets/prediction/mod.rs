//! A cost model: predicts prefill, decode and the attribution job on GPUs that were not at hand, from the instruction mixes that real
//! compilers make of our kernels, from bytes, and from peak rates. `docs/real-gpus.md` shows the results next to measurements.
//!
//! Two constants are not derived but fitted, so that the model gives what an H200 did in November 2026: `REACHED` and `DISPATCH`.

mod gpus;
mod measurements;
mod mixes;
pub mod models;
pub mod page;
pub mod work;

pub use mixes::{FILE as MIXES, Mixes};

use gpus::Gpu;
use mixes::Mix;
use models::{Model, VOCABULARY};
use work::Job;

/// Fitted share of the limit of instructions and shared memory that a product of matrices reaches. Loads, barriers and clocks below the
/// maker's cost the rest.
const REACHED: f64 = 0.4;
/// Fitted seconds that each dispatch adds to the time of its work. Whether the CPU or the GPU spends them is not known. Published figures
/// for WebGPU are 24 to 71 µs.
const DISPATCH: f64 = 43e-6;
/// Assumed share of the memory bandwidth in a loop that only streams.
const STREAMED: f64 = 0.85;

/// Rows and columns of y that one workgroup of `matmul_tiles` computes.
const TILE: usize = 64;
/// Rows that pass through a layer together, and tokens of the vocabulary in one tile: `VARIANTS` in the engine.
const BLOCK: usize = 512;
const VOCABULARY_TILE: usize = 4096;
/// Dispatches of a layer for a block of rows: two norms, four products, rotation and cache, attention, gates.
const DISPATCHES_OF_BLOCK: f64 = 9.0;
/// Dispatches of a layer in a decode step, and those outside of layers. The test `decode_step_has_expected_dispatches` counts them.
const DISPATCHES_OF_STEP: f64 = 5.0;
const DISPATCHES_BESIDE_LAYERS: f64 = 4.0;

/// The task that `gpu_run.sh` measures: tokens, sentences and generated sentences of the job. The prefill has as many tokens.
pub const JOB: Job = Job { tokens: 400, sentences: 20, generated: 8 };

/// Predicted speed of one model on one GPU.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    /// Tokens per second.
    pub prefill: f64,
    pub decode: f64,
    pub job_seconds: f64,
    /// Share of the f32 peak that the products of the layers reach in a prefill.
    pub arithmetic: f64,
    /// Share of the memory bandwidth that reading weights reaches in decoding.
    pub bandwidth: f64,
    /// Time of the job, divided by the time of its products at the f32 peak.
    pub job_to_ideal: f64,
}

/// A model on a GPU.
struct Run<'a> {
    gpu: &'a Gpu,
    model: &'a Model,
    /// Inner loop of products of matrices, and of products with one row.
    product: Mix,
    step: Mix,
    /// Keys and values that attention reads, relative to those that each row and head attends to.
    keys_read: f64,
    dispatches_of_step: f64,
}

impl<'a> Run<'a> {
    fn new(gpu: &'a Gpu, model: &'a Model, mixes: &Mixes) -> Self {
        let [product, step] = ["matmul_tiles", "matvec_shared"].map(|kernel| mixes.of(kernel, model.tensor_type.name));
        Self { gpu, model, product, step, keys_read: mixes.keys_read, dispatches_of_step: DISPATCHES_OF_STEP }
    }

    fn predict(&self) -> Prediction {
        let (gpu, model, tokens) = (self.gpu, self.model, JOB.tokens as f64);
        let [prefill, decode, job_seconds] = [self.prefill_seconds(JOB.tokens), self.decode_seconds(), self.job_seconds(JOB)];
        let weights = model.layer_weights() * JOB.forward_tokens() as f64 + model.head_weights() * JOB.head_positions() as f64;
        Prediction {
            prefill: tokens / prefill,
            decode: 1.0 / decode,
            job_seconds,
            arithmetic: 2.0 * model.layer_weights() * tokens / prefill / gpu.flops,
            bandwidth: model.file_bytes() / decode / gpu.bandwidth,
            job_to_ideal: job_seconds / (2.0 * weights / gpu.flops),
        }
    }

    /// Seconds of a text of `tokens` tokens and of choosing the next one.
    fn prefill_seconds(&self, tokens: usize) -> f64 {
        let attended = (1..=tokens).sum::<usize>() as f64;
        self.layers_seconds(tokens, attended) + self.step_product_seconds(self.model.head_weights()) + DISPATCHES_BESIDE_LAYERS * DISPATCH
    }

    /// Seconds of a decode step.
    fn decode_seconds(&self) -> f64 {
        let model = self.model;
        let dispatches = model.layers as f64 * self.dispatches_of_step + DISPATCHES_BESIDE_LAYERS;
        self.step_product_seconds(model.layer_weights() + model.head_weights()) + dispatches * DISPATCH
    }

    /// Seconds of the attribution job with shared prefixes: first the text itself, then the suffixes together.
    fn job_seconds(&self, job: Job) -> f64 {
        let [text, suffixes] = [job.text_tokens(), job.forward_tokens() - job.text_tokens()];
        let [of_text, of_suffixes] = [job.text_positions(), job.head_positions() - job.text_positions()];
        self.layers_seconds(text, job.text_attended() as f64)
            + self.layers_seconds(suffixes, job.suffixes_attended() as f64)
            + self.head_seconds(of_text)
            + self.head_seconds(of_suffixes)
    }

    /// Seconds of `rows` rows in all layers. Together they attend to `attended` positions.
    fn layers_seconds(&self, rows: usize, attended: f64) -> f64 {
        let block_seconds = |n| {
            let products: f64 = self.model.products().iter().map(|&[rows, columns]| self.product_seconds(n, rows, columns)).sum();
            products + DISPATCHES_OF_BLOCK * DISPATCH
        };
        let of_layer: f64 = blocks(rows).map(block_seconds).sum();
        self.model.layers as f64 * (of_layer + self.attention_seconds(attended))
    }

    /// Seconds of the LM head for `positions` positions, a tile of the vocabulary at a time.
    fn head_seconds(&self, positions: usize) -> f64 {
        let tiles = VOCABULARY.div_ceil(VOCABULARY_TILE) as f64;
        let block_seconds = |n| {
            // A product and a log-sum-exp per tile; before them, a choice of rows and a norm.
            tiles * self.product_seconds(n, VOCABULARY_TILE, self.model.dim) + (2.0 + 2.0 * tiles) * DISPATCH
        };
        blocks(positions).map(block_seconds).sum()
    }

    /// Seconds of the product of `n` rows with a matrix, without its dispatch. Workgroups run in rounds, one per processor.
    fn product_seconds(&self, n: usize, rows: usize, columns: usize) -> f64 {
        let workgroups = (rows.div_ceil(TILE) * n.div_ceil(TILE)) as f64;
        let rounds = (workgroups / self.gpu.processors).ceil();
        let of_workgroup = (TILE * TILE * columns) as f64 / (self.multiply_adds_per_second() / self.gpu.processors);
        let streamed = (rows * columns) as f64 * self.model.tensor_type.bytes_in_memory() / (self.gpu.bandwidth * STREAMED);
        (rounds * of_workgroup).max(streamed)
    }

    /// Multiply-adds per second in products of matrices.
    fn multiply_adds_per_second(&self) -> f64 {
        self.gpu.flops / 2.0 * self.gpu.share(self.product) * REACHED
    }

    /// Seconds of attention in a layer, whose rows attend to `attended` positions together. Its loops are taken to be as good as those of
    /// the products. Keys and values are f32, and in a cache.
    fn attention_seconds(&self, attended: f64) -> f64 {
        let multiply_adds = 2.0 * attended * self.model.query_width() as f64;
        multiply_adds / self.multiply_adds_per_second() + 4.0 * multiply_adds * self.keys_read / self.gpu.cache_bandwidth
    }

    /// Seconds of products of one row with this many weights: streaming them, or the instructions of unpacking them.
    fn step_product_seconds(&self, weights: f64) -> f64 {
        let streamed = weights * self.model.tensor_type.bytes_in_memory() / (self.gpu.bandwidth * STREAMED);
        let unpacked = weights / (self.gpu.flops / 2.0 * self.gpu.share(self.step));
        streamed.max(unpacked)
    }
}

/// Sizes of the blocks of `n` rows.
fn blocks(n: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(BLOCK).map(move |first| BLOCK.min(n - first))
}

#[cfg(test)]
mod tests {
    use super::gpus::GPUS;
    use super::models::models;
    use super::*;

    const BEST: Mix = Mix { of_all: 1.0, of_vector: 1.0, shared_bytes: 0.0 };

    fn run<'a>(gpu: &str, model: &'a Model) -> Run<'a> {
        let gpu = GPUS.iter().find(|other| other.adapter == gpu).expect("a row");
        Run::new(gpu, model, &Mixes::stored().expect("the stored mixes"))
    }

    fn assert_near(what: &str, predicted: f64, measured: f64, tolerance: f64) {
        assert!((predicted / measured - 1.0).abs() <= tolerance, "{what}: {predicted} is predicted, {measured} was measured");
    }

    /// `docs/speed.md` has the measurements. A decode step had six dispatches a layer.
    #[test]
    fn model_gives_what_h200_did_in_november() {
        let models = models();
        let model = models.iter().find(|model| (model.name, model.tensor_type.name) == ("0.6b", "Q8_0")).expect("a row");
        let h200 = Run { dispatches_of_step: 6.0, ..run("H200", model) };
        assert_near("prefill", 300.0 / h200.prefill_seconds(300), 10_454.0, 0.15);
        assert_near("decode", 1.0 / h200.decode_seconds(), 138.0, 0.15);
        assert_near("job", h200.job_seconds(Job { tokens: 300, sentences: 15, generated: 6 }), 0.24, 0.15);
    }

    #[test]
    fn nothing_is_better_than_ideal() {
        let mixes = Mixes::stored().expect("the stored mixes");
        for (gpu, model) in GPUS.iter().flat_map(|gpu| models().into_iter().map(move |model| (gpu, model))) {
            let run = Run::new(gpu, &model, &mixes);
            let Prediction { arithmetic, bandwidth, job_to_ideal, .. } = run.predict();
            assert!(arithmetic < REACHED && bandwidth < STREAMED && job_to_ideal > 1.0 / REACHED, "{} {}", gpu.name, model.name);
            let best = Run { product: BEST, step: BEST, keys_read: 0.0, dispatches_of_step: 0.0, gpu, model: &model };
            assert!(best.job_seconds(JOB) < run.job_seconds(JOB) && best.decode_seconds() < run.decode_seconds());
        }
    }

    #[test]
    fn last_workgroup_of_round_costs_as_much_as_full_round() {
        let models = models();
        let gpu = Gpu { processors: 4.0, ..*GPUS.iter().find(|gpu| gpu.adapter == "H200").expect("a row") };
        let run = Run { product: BEST, ..Run::new(&gpu, &models[0], &Mixes::stored().expect("the stored mixes")) };
        let seconds = |rows| run.product_seconds(64, rows, 1 << 16);
        assert_eq!([seconds(64), seconds(3 * 64)], [seconds(4 * 64); 2]);
        assert_eq!(seconds(5 * 64), 2.0 * seconds(4 * 64));
    }

    #[test]
    fn blocks_cover_all_rows() {
        assert_eq!(blocks(1100).collect::<Vec<_>>(), [512, 512, 76]);
        assert_eq!(blocks(0).count(), 0);
    }

    #[test]
    fn pack_measures_what_is_predicted() {
        let Job { tokens, sentences, generated } = JOB;
        let arguments = format!("--tokens {tokens} --sentences {sentences} --generated {generated} ");
        assert!(include_str!("../../gpu_run.sh").contains(&arguments), "{arguments}");
    }
}
