//! Checks the weights in GPU memory, because faulty memory or a driver can change them after loading. Multiplies the matrices of one layer
//! by a fixed vector: y = W x.
//!
//! Right after loading, a few rows of y are compared with the weights of the file, multiplied on the CPU. Later, all rows of y are compared
//! with those after loading. A changed weight changes one of them.

use super::device::Gpu;
use super::forward::{Transformer, project};
use super::kernels::RowView;
use super::recording::Recording;
use super::submissions::Submissions;
use super::weights::{Matrix, shape};
use crate::lm::{LmError, LoadError};
use glasscage_core::rng::random;
use glasscage_message::{Message, message};
use glasscage_model::config::Config;
use glasscage_model::gguf::{Gguf, GgufError};
use glasscage_model::source::ByteSource;

/// Rows of one matrix of each group that the CPU multiplies.
const CPU_ROWS: usize = 4;
/// Allowed error, relative to the largest product with the same matrix.
const TOLERANCE: f32 = 5e-5;
const SEED: u64 = 45;
fn failure() -> Message {
    message!("This device’s GPU multiplies the weights of the model incorrectly")
}

/// Products of consecutive rows of one tensor with the fixed vector, computed on the CPU.
pub struct RowProducts {
    group: usize,
    /// 0-based index of the first row in the tensor.
    first: usize,
    values: Vec<f32>,
}

/// Multiplies a few rows of the last matrix of each group (see [`groups`]), with weights of the file. Reads a few kilobytes per group.
pub async fn read_row_products(source: &impl ByteSource, gguf: &Gguf, config: &Config) -> Result<Vec<RowProducts>, LoadError> {
    let names = (0..config.n_layers).map(|i| format!("blk.{i}.ffn_down.weight")).chain(["token_embd.weight".to_owned()]);
    let mut products = Vec::new();
    for (i, name) in names.enumerate() {
        let Some(tensor) = gguf.find(&name) else { continue };
        let (rows, columns) = shape(tensor);
        let Some(row_bytes) = tensor.quant.bytes(columns as u64).filter(|&bytes| bytes > 0) else { continue };
        let n = rows.min(CPU_ROWS);
        // Each group checks other rows, to find damage at the same place of every matrix.
        let first = i * (rows - n) / config.n_layers.max(1);
        let bytes = source.read_at(tensor.offset + first as u64 * row_bytes, n * row_bytes as usize).await.map_err(GgufError::from)?;
        products.push(RowProducts { group: i, first, values: multiplied(&tensor.quant.values(&bytes), &random(columns, SEED)) });
    }
    Ok(products)
}

/// `[rows]` from weights `[rows, columns]` and a vector `[columns]`, in float64.
fn multiplied(w: &[f32], x: &[f32]) -> Vec<f32> {
    w.chunks(x.len()).map(|row| row.iter().zip(x).map(|(&w, &x)| f64::from(w) * f64::from(x)).sum::<f64>() as f32).collect()
}

/// The matrices that are checked together: those of each layer, and those of the vocabulary.
fn groups(transformer: &Transformer) -> Vec<Vec<&Matrix>> {
    let of_layers = transformer.layers.iter().map(|layer| vec![&layer.projection, &layer.mixer_output, &layer.gate_up, &layer.down]);
    of_layers.chain([transformer.output.iter().chain([&transformer.embedding]).collect()]).collect()
}

/// Compares products of the weights with those after loading, one group at a time.
pub struct WeightCheck {
    /// Products of each group right after loading, for each of its matrices `[rows]`.
    loaded: Vec<Vec<Vec<f32>>>,
    /// The group to check next.
    next: usize,
}

impl WeightCheck {
    /// Multiplies all matrices of a model that was just loaded. Marks the GPU as faulty if `of_file` has other products.
    pub async fn new(gpu: &Gpu, transformer: &Transformer, of_file: &[RowProducts]) -> Result<Self, LmError> {
        let groups = groups(transformer);
        let mut products = products(gpu, &groups.concat()).await?.into_iter();
        let loaded: Vec<Vec<Vec<f32>>> = groups.iter().map(|group| products.by_ref().take(group.len()).collect()).collect();
        let is_right = |of_file: &RowProducts| {
            let product = loaded[of_file.group].last().expect("a group has a matrix");
            let mut right = product.clone();
            right[of_file.first..][..of_file.values.len()].copy_from_slice(&of_file.values);
            is_close(product, &right)
        };
        if of_file.iter().all(is_right) { Ok(Self { loaded, next: 0 }) } else { Err(gpu.mark_faulty(failure())) }
    }

    /// Checks the next group. Marks the GPU as faulty if its weights have changed.
    pub async fn check_next(&mut self, gpu: &Gpu, transformer: &Transformer) -> Result<(), LmError> {
        let is_changed = self.is_changed(self.next, gpu, transformer).await?;
        self.next = (self.next + 1) % self.loaded.len();
        if is_changed { Err(gpu.mark_faulty(failure())) } else { Ok(()) }
    }

    async fn is_changed(&self, group: usize, gpu: &Gpu, transformer: &Transformer) -> Result<bool, LmError> {
        let found = products(gpu, &groups(transformer)[group]).await?;
        Ok(!found.iter().zip(&self.loaded[group]).all(|(found, loaded)| is_close(found, loaded)))
    }
}

/// Products of each matrix with the fixed vector, `[rows]`.
async fn products(gpu: &Gpu, matrices: &[&Matrix]) -> Result<Vec<Vec<f32>>, LmError> {
    let slabs = || matrices.iter().flat_map(|matrix| &matrix.slabs);
    let lengths: Vec<usize> = matrices.iter().map(|matrix| matrix.slabs.last().map_or(0, |slab| slab.rows.end)).collect();
    let values = random(slabs().map(|slab| slab.columns()).max().unwrap_or(0), SEED);
    let allocate = || (gpu.buffer_with_f32("checked vector", &values), gpu.buffer("checked products", lengths.iter().sum()));
    let (x, y) = gpu.try_allocate(allocate).await?;
    let mut submissions = Submissions::new(gpu);
    let mut end = 0;
    for (matrix, length) in matrices.iter().zip(&lengths) {
        let mut recording = Recording::new(gpu);
        project(&mut recording, matrix, 1, true, RowView::new(&x, values.len()), RowView::new(&y, 1).starting_at(end));
        submissions.add(recording).await?;
        end += length;
    }
    submissions.finish().await?;
    let mut products = gpu.read_f32(&y, end).await?;
    Ok(lengths.iter().map(|&length| products.drain(..length).collect()).collect())
}

/// Whether `found` has all finite values of `right`. Values that are not finite come from the file.
fn is_close(found: &[f32], right: &[f32]) -> bool {
    let finite = || found.iter().zip(right).filter(|(_, right)| right.is_finite());
    let largest = finite().fold(0.0, |largest: f32, (_, right)| largest.max(right.abs()));
    finite().all(|(found, right)| (found - right).abs() <= TOLERANCE * largest)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;
    use std::rc::Rc;

    use super::*;
    use crate::gpu::GpuModel;
    use crate::gpu::device::Options;
    use crate::gpu::variant::{VARIANTS, Variant};
    use glasscage_model::source::NativeFile;

    async fn demo(variant: &'static Variant) -> (GpuModel, Vec<RowProducts>) {
        let source = NativeFile::open(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/models/demo.gguf"))).unwrap();
        let gguf = Gguf::read(&source).await.unwrap();
        let of_file = read_row_products(&source, &gguf, &Config::from_gguf(&gguf).unwrap()).await.unwrap();
        let gpu = Rc::new(Gpu::open(&Options { variant: Some(variant), ..Options::default() }).await.unwrap());
        let loaded = GpuModel::load(gpu, &source, &gguf, &mut async |_| ControlFlow::Continue(())).await.unwrap();
        (loaded.unwrap().0, of_file)
    }

    async fn new_check(model: &GpuModel, of_file: &[RowProducts]) -> Result<WeightCheck, LmError> {
        WeightCheck::new(&model.gpu, &model.transformer, of_file).await
    }

    #[tokio::test]
    async fn undamaged_weights_pass_again_and_again() {
        for variant in VARIANTS {
            let (model, of_file) = demo(variant).await;
            let mut check = new_check(&model, &of_file).await.unwrap();
            for _ in 0..2 * check.loaded.len() {
                check.check_next(&model.gpu, &model.transformer).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn one_damaged_word_of_any_matrix_is_found() {
        let (model, of_file) = demo(&VARIANTS[0]).await;
        let (gpu, transformer) = (&*model.gpu, &model.transformer);
        let check = new_check(&model, &of_file).await.unwrap();
        for (number, group) in groups(transformer).into_iter().enumerate() {
            for (i, matrix) in group.into_iter().enumerate() {
                let (buffer, at) = (&matrix.slabs[0].buffer, 100 * number + 10 * i);
                let word = gpu.read(buffer, at + 1).await.unwrap()[at];
                gpu.write(buffer, at, &[word ^ 0x4040_4040]);
                assert!(check.is_changed(number, gpu, transformer).await.unwrap(), "{number} {i}");
                gpu.write(buffer, at, &[word]);
                assert!(!check.is_changed(number, gpu, transformer).await.unwrap(), "{number} {i}");
            }
        }
    }

    #[tokio::test]
    async fn weights_other_than_those_of_the_file_are_found_after_loading() {
        let (model, mut of_file) = demo(&VARIANTS[0]).await;
        of_file.last_mut().unwrap().values[1] *= 1.01;
        assert!(matches!(new_check(&model, &of_file).await, Err(LmError::FaultyGpu(_))));
        assert!(matches!(model.gpu.check(), Err(LmError::FaultyGpu(_))), "it stays faulty");
    }
}
