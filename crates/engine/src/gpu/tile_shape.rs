//! Chooses the fastest tile shape of matrix products on this GPU. Measures once, and remembers the result for this GPU and version.

mod trial;

use self::trial::Trial;
use super::buffer::Buffer;
use super::device::Gpu;
use super::kernels::matmul::{self, Matmul};
use super::kernels::{RowView, padded};
use super::recording::Recording;
use super::variant::{TILE_SHAPES, TileShape};
use super::weights::Slab;
use crate::lm::LmError;
use glasscage_model::config::Config;
use glasscage_model::gguf::Gguf;
use glasscage_protocol::version::GLASSCAGE;

/// Maximum operations in the measured product: a quarter of a second on a GPU with 15e9 operations per second. Drivers do not reset a GPU
/// for that.
const MOST_OPERATIONS: usize = 4_000_000_000;

/// A product like those of an explanation. All values are zero, because zeros take as long as other values.
struct Product {
    w: Slab,
    x: Buffer,
    y: Buffer,
    tokens: usize,
    /// Values in a row of x.
    stride: usize,
}

impl Gpu {
    /// Uses the shape `remembered` from an earlier visit (see [`Gpu::tile_shape_to_remember`]), or measures the fastest one. Measuring
    /// uses the largest matrices of a layer and takes about a third of a second, plus compilation. If it fails, the shape does not
    /// change, and the self-test reports the fault.
    pub async fn choose_tile_shape(&self, gguf: &Gguf, config: &Config, remembered: Option<&str>) {
        let known = TILE_SHAPES.iter().find(|shape| remembered.is_some() && self.name_with(shape).as_deref() == remembered);
        let shape = match known {
            Some(shape) => Some(shape),
            None => self.fastest_tile_shape(gguf, config).await.ok().flatten(),
        };
        shape.into_iter().for_each(|shape| self.tile_shape.set(shape));
    }

    /// The current shape, with the GPU and version to which it applies. `None` if the GPU has no name, or if its kernels have no tile
    /// shapes.
    pub fn tile_shape_to_remember(&self) -> Option<String> {
        self.name_with(self.tile_shape.get())
    }

    fn name_with(&self, shape: &TileShape) -> Option<String> {
        let is_known = !self.adapter.name.is_empty() && self.variant.shares_memory;
        is_known.then(|| format!("{}, {GLASSCAGE}, {}", self.adapter.name, shape.name))
    }

    /// `None` if there is nothing to choose.
    async fn fastest_tile_shape(&self, gguf: &Gguf, config: &Config) -> Result<Option<&'static TileShape>, LmError> {
        let Some(quant) = gguf.find("blk.0.ffn_up.weight").map(|tensor| tensor.quant).filter(|_| self.variant.shares_memory) else {
            return Ok(None);
        };
        let (tokens, stride) = (self.variant.block_rows, padded(config.dim));
        let rows = (2 * config.ffn_dim).min(MOST_OPERATIONS / (2 * tokens * config.dim)).max(1);
        let allocate = || Product {
            w: Slab::new(self, quant, config.dim, 0..rows),
            x: self.buffer("x", tokens * stride),
            y: self.buffer("y", tokens * rows),
            tokens,
            stride,
        };
        let product = self.try_allocate(allocate).await?;
        let mut trial = Trial::new(TILE_SHAPES.len());
        while let Some(run) = trial.next() {
            trial.took(self.seconds_of_product(&product, &TILE_SHAPES[run.candidate], run.times).await?);
        }
        Ok(trial.best().map(|best| &TILE_SHAPES[best]))
    }

    /// Seconds that `times` consecutive products take.
    async fn seconds_of_product(&self, product: &Product, shape: &'static TileShape, times: usize) -> Result<f64, LmError> {
        let Product { w, x, y, tokens, stride } = product;
        let before = self.tile_shape.replace(shape);
        let mut recording = Recording::new(self);
        for _ in 0..times {
            let matmul = Matmul::by_slab(w, *tokens, RowView::new(x, *stride), RowView::new(y, w.rows.len()));
            matmul::record_at_once(&mut recording, &matmul);
        }
        self.tile_shape.set(before);
        recording.finish().seconds(self, y).await
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::gpu::device::Options;
    use crate::gpu::variant::Variant;
    use glasscage_model::source::NativeFile;

    #[tokio::test]
    async fn shape_is_measured_once_then_remembered() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/models/demo.gguf");
        let gguf = Gguf::read(&NativeFile::open(std::path::Path::new(path)).unwrap()).await.unwrap();
        let config = Config::from_gguf(&gguf).unwrap();
        let open = async |is_software| {
            let options = Options { variant: Some(Variant::of(is_software)), ..Options::default() };
            Gpu::open(&options).await.expect("the tests need WebGPU or Vulkan")
        };
        let gpu = open(false).await;
        gpu.choose_tile_shape(&gguf, &config, None).await;
        let measured = gpu.stats.dispatches.get();
        assert!(measured > 1, "the shape was measured");
        let remembered = gpu.tile_shape_to_remember().expect("the adapter has a name");
        assert!(remembered.starts_with(&gpu.adapter.name) && remembered.ends_with(gpu.tile_shape.get().name), "{remembered}");

        let again = open(false).await;
        for shape in TILE_SHAPES {
            let remembered = again.name_with(shape);
            again.choose_tile_shape(&gguf, &config, remembered.as_deref()).await;
            assert_eq!((again.tile_shape.get(), again.stats.dispatches.get()), (shape, 0), "nothing is measured");
        }
        again.choose_tile_shape(&gguf, &config, Some("another GPU, 1.0.0, 8x4")).await;
        assert!(again.stats.dispatches.get() > 1, "a shape of another GPU is ignored");

        let without_shapes = open(true).await;
        without_shapes.choose_tile_shape(&gguf, &config, None).await;
        assert_eq!((without_shapes.stats.dispatches.get(), without_shapes.tile_shape_to_remember()), (0, None));
    }
}
