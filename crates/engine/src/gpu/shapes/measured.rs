//! Chooses the fastest shapes on this GPU. Measures once, and remembers the result for this GPU and version.

use super::trial::Trial;
use super::{STEP_SHAPES, ShapeTime, Shapes, TILE_SHAPES, VECTOR_SHAPES};
use crate::gpu::batch::{Row, text_rows};
use crate::gpu::buffer::Buffer;
use crate::gpu::device::Gpu;
use crate::gpu::format::row_words;
use crate::gpu::kernel::Kernel;
use crate::gpu::kernels::attention_step::{self, AttentionStep, projected_width};
use crate::gpu::kernels::matmul::{self, Matmul, Norm};
use crate::gpu::kernels::qkv_rope_cache::{cached_head, cached_slot};
use crate::gpu::kernels::{RowView, padded};
use crate::gpu::recording::Recording;
use crate::gpu::weights::Slab;
use crate::lm::LmError;
use glasscage_model::config::Config;
use glasscage_model::gguf::Gguf;
use glasscage_model::quant::Quant;
use glasscage_protocol::version::GLASSCAGE;

/// Maximum operations in the measured product: a quarter of a second on a GPU with 15e9 operations per second. Drivers do not reset a GPU
/// for that.
const MAX_OPERATIONS: usize = 4_000_000_000;
/// Maximum bytes of W in the measured products with a vector. They read other rows each time, as the layers of a model do.
const MAX_BYTES: usize = 32 << 20;
/// Tokens of the text in the measured attention.
const TEXT: usize = 512;

/// A kernel with several shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hot {
    Tiles,
    Vector,
    Step,
}

/// All of them, with the maximum seconds of their measurements.
const HOT: [(Hot, f64); 3] = [(Hot::Tiles, 0.16), (Hot::Vector, 0.07), (Hot::Step, 0.07)];

impl Hot {
    /// `shapes` with each shape of this kernel.
    fn candidates(self, shapes: Shapes) -> Vec<Shapes> {
        match self {
            Self::Tiles => TILE_SHAPES.iter().map(|tile| Shapes { tile, ..shapes }).collect(),
            Self::Vector => VECTOR_SHAPES.iter().map(|vector| Shapes { vector, ..shapes }).collect(),
            Self::Step => STEP_SHAPES.iter().map(|step| Shapes { step, ..shapes }).collect(),
        }
    }

    /// The shape of this kernel in `shapes`.
    fn shape(self, shapes: &Shapes) -> String {
        match self {
            Self::Tiles => shapes.tile.to_string(),
            Self::Vector => shapes.vector.to_string(),
            Self::Step => shapes.step.to_string(),
        }
    }

    /// Work for the kernel, as in a model with this configuration and this type of weights.
    fn work(self, gpu: &Gpu, config: &Config, quant: &'static Quant) -> Work {
        match self {
            Self::Tiles => Work::Tiles(Product::new(gpu, config, quant, gpu.variant.block_rows, MAX_OPERATIONS)),
            Self::Vector => Work::Vector(Product::new(gpu, config, quant, 1, usize::MAX)),
            Self::Step => Work::Step(Attention::new(gpu, config)),
        }
    }
}

/// What is measured. All values are zero, because zeros take as long as other values.
enum Work {
    /// A product like those of an explanation.
    Tiles(Product),
    /// The largest product of a layer in a decode step.
    Vector(Product),
    /// Attention of a decode step.
    Step(Attention),
}

impl Work {
    /// Records it for the `turn`-th time.
    fn record<'a>(&'a self, recording: &mut Recording<'a>, config: &Config, turn: usize) {
        match self {
            Self::Tiles(Product { w, x, y, tokens, .. }) => {
                let (x, y) = (RowView::new(x, padded(config.dim)), RowView::new(y, w.rows.len()));
                matmul::record_at_once(recording, &Matmul::by_slab(w, *tokens, x, y));
            }
            Self::Vector(Product { w, x, y, rows, .. }) => {
                let first = turn % (w.rows.len() / rows) * rows;
                let normed = Norm { weight: x, dim: config.dim, epsilon: config.norm_epsilon };
                let (x, y) = (RowView::new(x, padded(config.dim)), RowView::new(y, rows / 2));
                let gated = Matmul::gated(w, config.architecture.gate, x, y);
                let norm = config.architecture.norms_before().then_some(normed);
                matmul::record(recording, &Matmul { rows: first..first + rows, ..gated }.normalizing(norm));
            }
            Self::Step(attention) => attention.record(recording, config),
        }
    }

    fn kernel(&self, gpu: &Gpu, config: &Config, shapes: &Shapes) -> Kernel {
        let Config { architecture, .. } = config;
        match self {
            Self::Tiles(product) => matmul::kernel(gpu.variant, shapes.tile, product.w.format),
            Self::Vector(product) => {
                let (is_normed, gate) = (architecture.norms_before(), Some(architecture.gate));
                matmul::step_kernel(gpu.variant, shapes.vector, is_normed, gate, product.w.format)
            }
            Self::Step(_) => attention_step::kernel(architecture, cached_head(config) / 4, false, shapes.step),
        }
    }

    fn output(&self) -> &Buffer {
        match self {
            Self::Tiles(product) | Self::Vector(product) => &product.y,
            Self::Step(attention) => &attention.y,
        }
    }
}

/// Products of `tokens` rows with the gates and the other half of a feed-forward network.
struct Product {
    w: Slab,
    /// `[tokens, padded dim]`.
    x: Buffer,
    y: Buffer,
    tokens: usize,
    /// Rows of W in one product, an even number. `w` has a multiple of them.
    rows: usize,
}

impl Product {
    fn new(gpu: &Gpu, config: &Config, quant: &'static Quant, tokens: usize, most_operations: usize) -> Self {
        let row_bytes = 4 * row_words(quant, config.dim);
        let most = (most_operations / (2 * tokens * config.dim)).min(MAX_BYTES / row_bytes);
        let rows = (2 * config.ffn_dim).min(most).max(2) / 2 * 2;
        let layers = if tokens == 1 { (MAX_BYTES / (rows * row_bytes)).clamp(1, config.n_layers) } else { 1 };
        let x = gpu.buffer("x", tokens * padded(config.dim));
        Self { w: Slab::new(gpu, quant, config.dim, 0..rows * layers), x, y: gpu.buffer("y", tokens * rows), tokens, rows }
    }
}

/// Attention of one row to a text of [`TEXT`] tokens.
struct Attention {
    row: Buffer,
    /// Queries, keys and values. Also serves as biases and norms.
    qkv: Buffer,
    angles: Buffer,
    cache: Buffer,
    y: Buffer,
}

impl Attention {
    fn new(gpu: &Gpu, config: &Config) -> Self {
        let last = TEXT.min(config.context_length) - 1;
        Self {
            row: gpu.buffer_with("row", &Row::all_words(&text_rows(&[0.into()], last))),
            qkv: gpu.buffer("qkv", projected_width(config)),
            angles: gpu.buffer("angles", (last + 1) * config.rotated_dim),
            cache: gpu.buffer("cache", (last + 1) * cached_slot(config)),
            y: gpu.buffer("y", padded(config.n_heads * config.head_dim)),
        }
    }

    fn record<'a>(&'a self, recording: &mut Recording<'a>, config: &Config) {
        let Self { row, qkv, angles, cache, y } = self;
        attention_step::record(recording, config, &AttentionStep { row, window: None, bias: qkv, norms: qkv, angles, qkv, cache, y });
    }
}

impl Gpu {
    /// Uses the shapes `remembered` from an earlier visit (see [`Gpu::shapes_to_remember`]), or measures the fastest ones. Measuring takes
    /// at most 0.3 s, plus compilation. If it fails, the shapes do not change, and the self-test reports the fault.
    pub async fn choose_shapes(&self, gguf: &Gguf, config: &Config, remembered: Option<&str>) {
        let known = remembered.and_then(|remembered| Shapes::all().find(|shapes| self.name_with(shapes).as_deref() == Some(remembered)));
        let shapes = match known {
            Some(shapes) => shapes,
            None => self.fastest_shapes(gguf, config).await.unwrap_or(self.shapes.get()),
        };
        self.shapes.set(shapes);
    }

    /// The current shapes, with the GPU and version to which they apply. `None` if the GPU has no name, or if its kernels have no shapes.
    pub fn shapes_to_remember(&self) -> Option<String> {
        self.name_with(&self.shapes.get())
    }

    fn name_with(&self, shapes: &Shapes) -> Option<String> {
        let is_known = !self.adapter.name.is_empty() && self.variant.shares_memory;
        is_known.then(|| format!("{}, {GLASSCAGE}, {shapes}", self.adapter.name))
    }

    /// Chooses the shapes one kernel at a time. Keeps the current ones if there is nothing to choose.
    async fn fastest_shapes(&self, gguf: &Gguf, config: &Config) -> Result<Shapes, LmError> {
        let mut shapes = self.shapes.get();
        let ffn_up = gguf.find("blk.0.ffn_up.weight").filter(|_| self.variant.shares_memory);
        let Some(quant) = ffn_up.map(|tensor| tensor.quant) else { return Ok(shapes) };
        for (hot, seconds) in HOT {
            let work = self.try_allocate(|| hot.work(self, config, quant)).await?;
            let candidates = hot.candidates(shapes);
            let mut trial = Trial::new(candidates.len(), seconds);
            while let Some(run) = trial.next() {
                trial.took(self.seconds_in(&work, config, candidates[run.candidate], run.times).await?);
            }
            shapes = candidates[trial.best().unwrap_or(0)];
            let time = |(candidate, seconds): (&Shapes, Option<f64>)| ShapeTime {
                kernel: work.kernel(self, config, candidate).name,
                shape: hot.shape(candidate),
                seconds,
                is_chosen: *candidate == shapes,
            };
            self.shape_times.borrow_mut().extend(candidates.iter().zip(trial.times()).map(time));
            let mut pipelines = self.pipelines.borrow_mut();
            candidates.iter().filter(|&other| *other != shapes).for_each(|other| drop(pipelines.remove(&work.kernel(self, config, other))));
        }
        Ok(shapes)
    }

    /// Seconds of `times` consecutive repetitions in these shapes.
    async fn seconds_in(&self, work: &Work, config: &Config, shapes: Shapes, times: usize) -> Result<f64, LmError> {
        let before = self.shapes.replace(shapes);
        let mut recording = Recording::new(self);
        (0..times).for_each(|turn| work.record(&mut recording, config, turn));
        self.shapes.set(before);
        recording.finish().seconds(self, work.output()).await
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::gpu::device::Options;
    use crate::gpu::variant::Variant;
    use glasscage_model::source::NativeFile;

    async fn demo() -> (Gguf, Config) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/models/demo.gguf");
        let gguf = Gguf::read(&NativeFile::open(std::path::Path::new(path)).unwrap()).await.unwrap();
        let config = Config::from_gguf(&gguf).unwrap();
        (gguf, config)
    }

    async fn open(is_software: bool) -> Gpu {
        let options = Options { variant: Some(Variant::of(is_software)), ..Options::default() };
        Gpu::open(&options).await.expect("the tests need WebGPU or Vulkan")
    }

    #[tokio::test]
    async fn shapes_are_measured_once_then_remembered() {
        let (gguf, config) = demo().await;
        let gpu = open(false).await;
        gpu.choose_shapes(&gguf, &config, None).await;
        assert!(gpu.stats.dispatches.get() > HOT.len(), "they were measured");
        let times = gpu.shape_times.borrow().clone();
        assert_eq!(times.len(), TILE_SHAPES.len() + VECTOR_SHAPES.len() + STEP_SHAPES.len());
        let chosen = times.iter().filter(|time| time.is_chosen && time.seconds.is_some());
        let chosen: Vec<String> = chosen.map(|time| time.shape.clone()).collect();
        assert_eq!(chosen, HOT.map(|(hot, _)| hot.shape(&gpu.shapes.get())), "{times:?}");
        let remembered = gpu.shapes_to_remember().expect("the adapter has a name");
        assert!(remembered.starts_with(&gpu.adapter.name) && remembered.ends_with(&gpu.shapes.get().to_string()), "{remembered}");

        let again = open(false).await;
        for shapes in Shapes::all() {
            let remembered = again.name_with(&shapes);
            again.choose_shapes(&gguf, &config, remembered.as_deref()).await;
            assert_eq!((again.shapes.get(), again.stats.dispatches.get()), (shapes, 0), "nothing is measured");
            assert!(again.shape_times.borrow().is_empty());
        }
        again.choose_shapes(&gguf, &config, Some("another GPU, 1.0.0, 8x4")).await;
        assert!(again.stats.dispatches.get() > HOT.len(), "shapes of another GPU are ignored");

        let without_shapes = open(true).await;
        without_shapes.choose_shapes(&gguf, &config, None).await;
        assert_eq!((without_shapes.stats.dispatches.get(), without_shapes.shapes_to_remember()), (0, None));
    }

    #[tokio::test]
    async fn only_chosen_shapes_stay_compiled() {
        let (gguf, config) = demo().await;
        let gpu = open(false).await;
        gpu.choose_shapes(&gguf, &config, None).await;
        let names = |gpu: &Gpu| gpu.pipelines.borrow().keys().map(|kernel| kernel.name).collect::<std::collections::BTreeSet<_>>();
        assert_eq!((gpu.n_pipelines(), names(&gpu).len()), (HOT.len(), HOT.len()), "{:?}", names(&gpu));
        let quant = gguf.find("blk.0.ffn_up.weight").expect("a feed-forward network").quant;
        for (hot, _) in HOT {
            let kernel = hot.work(&gpu, &config, quant).kernel(&gpu, &config, &gpu.shapes.get());
            assert!(gpu.pipelines.borrow().contains_key(&kernel), "{hot:?}");
        }
    }

    #[test]
    fn measurements_take_less_than_a_third_of_a_second_together() {
        assert!(HOT.iter().map(|(_, seconds)| seconds).sum::<f64>() <= 0.3 + 1e-9);
    }
}
