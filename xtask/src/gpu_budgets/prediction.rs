//! A cost model that predicts the time of an explanation and of a token on GPUs that we do not have, from instruction mixes, bytes and
//! peak rates. Assumes that kernels reach about half of what instructions and shared memory allow (`REACHED`). Nothing here is measured.

use anyhow::{Context, Result};

use super::measured::{Measured, Mix};

/// Assumed share of the instruction limit that the inner loop of a matrix product reaches. Loads, barriers and tails cost the rest.
const REACHED: f64 = 0.5;
/// Assumed share of the memory bandwidth in a loop that only streams.
const STREAMED: f64 = 0.85;
/// Seconds from the end of one dispatch to the end of a dependent one, in addition to its own time.
const LAUNCH: f64 = 4e-6;
/// Seconds of browser time per dispatch, for checks and commands. The browser works ahead of the GPU unless it waits for a result.
const ENCODE: f64 = 15e-6;
/// Seconds to read back bytes that a token waits for.
const READBACK: f64 = 0.5e-3;
/// Dispatches per token outside the layers: embedding, vocabulary, choice.
const DISPATCHES_BESIDE_LAYERS: f64 = 4.0;
/// Rows of the job that are computed together.
const BLOCK: f64 = 512.0;

/// Forward tokens and LM-head positions of the job (400 tokens in 20 sentences, 8 of them generated) with shared prefixes, and the
/// average number of tokens that a row attends to.
const JOB: [f64; 3] = [5_058.0, 3_321.0, 300.0];

struct Gpu {
    name: &'static str,
    /// f32 operations per second. A multiply-add counts as two.
    flops: f64,
    /// Bytes per second from memory.
    bandwidth: f64,
    /// Bytes per second from the largest cache (estimated).
    cache_bandwidth: f64,
    /// Bytes of shared memory that it reads in the time of a multiply-add.
    shared_bytes: f64,
    /// Whether every instruction takes the time of a multiply-add, as on NVIDIA. Elsewhere, only vector instructions do.
    issues_one: bool,
}

const GPUS: [Gpu; 6] = [
    gpu("Intel Iris Xe (96 EU)", [2.07e12, 60e9, 350e9], 0.5, false),
    gpu("Apple M2 (10 cores)", [3.6e12, 100e9, 500e9], 1.0, false),
    gpu("NVIDIA RTX 4060 Laptop", [11.6e12, 256e9, 1_500e9], 1.0, true),
    gpu("AMD RX 7600 (one issue)", [10.9e12, 288e9, 1_700e9], 2.0, false),
    gpu("Qualcomm Adreno 740", [2.1e12, 67e9, 200e9], 0.5, false),
    gpu("NVIDIA H200", [67e12, 4_800e9, 5_500e9], 1.0, true),
];

const fn gpu(name: &'static str, [flops, bandwidth, cache_bandwidth]: [f64; 3], shared_bytes: f64, issues_one: bool) -> Gpu {
    Gpu { name, flops, bandwidth, cache_bandwidth, shared_bytes, issues_one }
}

struct Model {
    name: &'static str,
    layers: f64,
    /// Number of query values in a row.
    queries: f64,
    /// Number of weights in the layers, and in the LM head.
    weights: [f64; 2],
    /// Bytes that decoding reads per token.
    bytes: f64,
}

const MODELS: [Model; 2] = [
    Model { name: "Qwen3-0.6B Q4_K_M", layers: 28.0, queries: 2_048.0, weights: [440e6, 155.6e6], bytes: 0.44e9 },
    Model { name: "Llama-3.2-1B Q4_K_M", layers: 16.0, queries: 2_048.0, weights: [973e6, 262.7e6], bytes: 0.81e9 },
];

/// Cost figures of an engine.
pub struct Engine {
    product: Mix,
    decode: Mix,
    /// Keys and values that are read, relative to those that each row and head attends to.
    keys_read: f64,
    dispatches_of_layer: f64,
    /// Whether decoding reads each token back before the next one starts.
    awaits: bool,
}

/// The engine before its kernels were optimized for GPUs (November 2026), compiled with the same compilers.
const BEFORE: Engine = Engine {
    product: Mix { of_all: 260.0 / 614.0, of_vector: 262.0 / 325.0, shared_bytes: 2.0 },
    decode: Mix { of_all: 128.0 / 936.0, of_vector: 136.0 / 476.0, shared_bytes: 0.0 },
    keys_read: 1.0,
    dispatches_of_layer: 9.0,
    awaits: true,
};

impl Engine {
    /// The current engine. A test of the engine checks its number of dispatches.
    pub fn now(measured: &Measured) -> Result<Self> {
        let mix = |kernel: &str| measured.mix(kernel).with_context(|| format!("{kernel} was not compiled"));
        let keys = measured.counted("keys and values");
        Ok(Self {
            product: mix("matmul_tiles.Q4_K")?,
            decode: mix("matvec_shared.Q4_K")?,
            keys_read: keys.first().context("keys and values were not counted")?.1,
            dispatches_of_layer: 5.0,
            awaits: false,
        })
    }
}

impl Gpu {
    /// Maximum share of the peak that a loop with this mix reaches.
    fn share(&self, mix: Mix) -> f64 {
        let issued = if self.issues_one { mix.of_all } else { mix.of_vector };
        if mix.shared_bytes > 0.0 { issued.min(self.shared_bytes / mix.shared_bytes) } else { issued }
    }
}

impl Model {
    /// Multiply-adds of the job's weight products, and of its attention.
    fn job(&self) -> [f64; 2] {
        let [tokens, positions, seen] = JOB;
        [tokens * self.weights[0] + positions * self.weights[1], tokens * seen * 2.0 * self.queries * self.layers]
    }

    /// Seconds of the job at the GPU's peak.
    fn ideal_job(&self, gpu: &Gpu) -> f64 {
        2.0 * self.job().iter().sum::<f64>() / gpu.flops
    }

    /// Predicted seconds of the job.
    fn job_seconds(&self, gpu: &Gpu, engine: &Engine) -> f64 {
        let [products, attention] = self.job();
        let rate = gpu.flops / 2.0;
        let computed = (products + attention) / (rate * gpu.share(engine.product) * REACHED);
        // Keys and values are f32.
        let read = 4.0 * attention * engine.keys_read / gpu.cache_bandwidth;
        let launches = (JOB[0] / BLOCK).ceil() * self.layers * engine.dispatches_of_layer;
        computed + read + launches * LAUNCH
    }

    /// Tokens per second at the memory bandwidth.
    fn ideal_decode(&self, gpu: &Gpu) -> f64 {
        gpu.bandwidth / self.bytes
    }

    /// Predicted tokens per second.
    fn decode_rate(&self, gpu: &Gpu, engine: &Engine) -> f64 {
        let streamed = self.bytes / (gpu.bandwidth * STREAMED);
        let unpacked = self.weights.iter().sum::<f64>() / (gpu.flops / 2.0 * gpu.share(engine.decode));
        let dispatches = self.layers * engine.dispatches_of_layer + DISPATCHES_BESIDE_LAYERS;
        let on_gpu = streamed.max(unpacked) + dispatches * LAUNCH;
        let encoding = dispatches * ENCODE;
        1.0 / if engine.awaits { on_gpu + encoding + READBACK } else { on_gpu.max(encoding) }
    }
}

/// Markdown table for each GPU and model: ideal, earlier engine, current engine.
pub fn table(now: &Engine) -> String {
    let mut text =
        "| GPU | model | product, % of peak at best: before, now | job, s: ideal, before, now | tokens a second: ideal, before, \
                    now |\n| --- | --- | --- | --- | --- |\n"
            .to_owned();
    for gpu in &GPUS {
        for model in &MODELS {
            let [before, after] = [&BEFORE, now].map(|engine| 100.0 * gpu.share(engine.product));
            let [job_before, job_now] = [&BEFORE, now].map(|engine| model.job_seconds(gpu, engine));
            let [decode_before, decode_now] = [&BEFORE, now].map(|engine| model.decode_rate(gpu, engine));
            let (job, decode) = (model.ideal_job(gpu), model.ideal_decode(gpu));
            text += &format!(
                "| {} | {} | {before:.0}, {after:.0} | {job:.2}, {job_before:.2}, **{job_now:.2}** | {decode:.0}, {decode_before:.0}, \
                 **{decode_now:.0}** |\n",
                gpu.name, model.name
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEST: Mix = Mix { of_all: 1.0, of_vector: 1.0, shared_bytes: 0.0 };

    #[test]
    fn job_work_matches_ideal() {
        let seconds = MODELS.map(|model| model.ideal_job(&Gpu { flops: 2e12, ..GPUS[0] }));
        assert!((seconds[0] - 2.9).abs() < 0.1 && (seconds[1] - 5.9).abs() < 0.1, "{seconds:?}");
        let read = 4.0 * MODELS[0].job()[1];
        assert!((read - 696e9).abs() < 1e9, "{read} bytes of keys and values");
    }

    #[test]
    fn shared_memory_and_instructions_limit_loop() {
        let [xe, .., h200] = &GPUS;
        assert_eq!(xe.share(BEFORE.product), 0.25, "shared memory");
        assert_eq!(h200.share(BEFORE.product), 260.0 / 614.0, "instructions");
        assert_eq!(xe.share(BEST), 1.0);
    }

    #[test]
    fn predictions_are_not_better_than_ideal() {
        let best = Engine { product: BEST, decode: BEST, keys_read: 0.0, dispatches_of_layer: 0.0, awaits: false };
        for (gpu, model) in GPUS.iter().flat_map(|gpu| MODELS.iter().map(move |model| (gpu, model))) {
            assert!(model.job_seconds(gpu, &best) >= model.ideal_job(gpu));
            assert!(model.decode_rate(gpu, &best) <= model.ideal_decode(gpu));
            assert!(model.job_seconds(gpu, &BEFORE) > model.job_seconds(gpu, &best));
            assert!(model.decode_rate(gpu, &BEFORE) < model.decode_rate(gpu, &best));
        }
    }

    #[test]
    fn each_gpu_and_model_has_row() {
        let table = table(&BEFORE);
        assert_eq!(table.lines().count(), 2 + GPUS.len() * MODELS.len(), "{table}");
        assert!(table.contains("| NVIDIA H200 | Qwen3-0.6B Q4_K_M | 42, 42 |"), "{table}");
    }
}
