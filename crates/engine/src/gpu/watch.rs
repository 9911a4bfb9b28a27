//! Repeats the self-test while a model computes, because a GPU or its driver can begin to compute incorrectly after loading. Each time, it
//! also checks the weights of one layer.
//!
//! Counts dispatches, not time. The first test is due after the model's first result. Later tests are due when the model has run
//! [`SPACING`] times as many dispatches as the test before, so they cost less than 2 % of the work.

use super::device::Gpu;
use super::forward::Transformer;
use super::self_test::SelfTest;
use super::weight_check::WeightCheck;
use crate::lm::LmError;

/// Dispatches of the model between two tests, for each dispatch of a test.
const SPACING: usize = 60;

/// A self-test that is repeated.
pub struct Watch {
    self_test: SelfTest,
    weights: WeightCheck,
    /// The next test is due when the device has run this many dispatches.
    due: usize,
}

impl Watch {
    /// Repeats this test, which the GPU has passed, for a model that was just loaded. Returns [`LmError::FaultyGpu`] if its weights are not
    /// those of the file.
    pub async fn new(self_test: SelfTest, gpu: &Gpu, transformer: &Transformer) -> Result<Self, LmError> {
        Ok(Self { weights: WeightCheck::new(gpu, transformer, &self_test.row_products).await?, self_test, due: 0 })
    }

    /// Passes on a result of the model, unless a due test fails. If the numbers are impossible, a test is due at once: the GPU may be the
    /// cause, and not the model.
    pub async fn checked<T>(&mut self, gpu: &Gpu, transformer: &Transformer, result: Result<T, LmError>) -> Result<T, LmError> {
        let is_impossible = matches!(result, Err(LmError::NotFinite | LmError::Impossible));
        if is_impossible {
            self.due = 0;
        }
        if is_impossible || result.is_ok() {
            self.test_if_due(gpu, transformer).await?;
        }
        result
    }

    /// Tests the GPU if a test is due. Returns [`LmError::FaultyGpu`] if it fails.
    async fn test_if_due(&mut self, gpu: &Gpu, transformer: &Transformer) -> Result<(), LmError> {
        let dispatches = &gpu.stats.dispatches;
        let before = dispatches.get();
        if before < self.due {
            return Ok(());
        }
        if let Some(failure) = self.self_test.run(gpu).await? {
            return Err(gpu.mark_faulty(failure));
        }
        self.weights.check_next(gpu, transformer).await?;
        self.due = dispatches.get() + SPACING * (dispatches.get() - before);
        Ok(())
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;
    use std::rc::Rc;

    use super::*;
    use crate::gpu::device::Options;
    use crate::gpu::{GpuModel, WrongKernel};
    use crate::lm::sample::Sampler;
    use crate::lm::{LanguageModel, Pass, ScoreRequest};
    use glasscage_model::gguf::Gguf;
    use glasscage_model::source::NativeFile;

    const SENTENCE: &str = "This device’s GPU computes SwiGLU incorrectly";

    async fn watched_demo() -> GpuModel {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/models/demo.gguf");
        let source = NativeFile::open(Path::new(path)).unwrap();
        let gguf = Gguf::read(&source).await.unwrap();
        let gpu = Rc::new(Gpu::open(&Options::default()).await.unwrap());
        let self_test = SelfTest::read(&source, &gguf).await.unwrap();
        assert_eq!(self_test.run(&gpu).await.unwrap(), None, "the kernels are right at first");
        let (mut model, _) = GpuModel::load(gpu, &source, &gguf, &mut async |_| ControlFlow::Continue(())).await.unwrap().unwrap();
        model.watch(Some(self_test)).await.unwrap();
        model
    }

    /// From now on, the GPU computes a kernel incorrectly when the kernel is compiled again.
    fn break_gpu(model: &GpuModel, right: &'static str, wrong: &'static str) {
        model.gpu.pipelines.borrow_mut().retain(|kernel, _| kernel.name != "swiglu");
        *model.gpu.wrong_kernel.borrow_mut() = Some(WrongKernel { name: "swiglu", format: None, right, wrong, is_used: false });
    }

    async fn generate(model: &mut GpuModel, n: usize) -> Result<(), LmError> {
        let mut next = model.next_token(&[1, 2, 3], &mut Sampler::greedy()).await?;
        for _ in 1..n {
            next = model.next_token(&[next], &mut Sampler::greedy()).await?;
        }
        Ok(())
    }

    fn is_faulty(result: &Result<(), LmError>) -> bool {
        matches!(result, Err(LmError::FaultyGpu(failure)) if failure.to_string() == SENTENCE)
    }

    #[tokio::test]
    async fn fault_after_loading_ends_the_first_answer() {
        let mut model = watched_demo().await;
        break_gpu(&model, "gate / (1.0", "gate * (1.0");
        model.reset(64);
        let generated = generate(&mut model, 1).await;
        assert!(is_faulty(&generated), "{generated:?}");
        assert!(matches!(model.gpu().check(), Err(LmError::FaultyGpu(_))), "it stays faulty");
    }

    #[tokio::test]
    async fn later_fault_is_found_and_tests_cost_less_than_two_percent() {
        let mut model = watched_demo().await;
        model.reset(512);
        let dispatches = |model: &GpuModel| model.gpu.stats.dispatches.get();
        generate(&mut model, 1).await.unwrap();
        let (tested, due) = (dispatches(&model), model.watch.as_ref().unwrap().due);
        let one_test = (due - tested) / SPACING;
        assert!(one_test > 0 && 50 * one_test < due - tested, "{one_test} of {}", due - tested);
        break_gpu(&model, "gate / (1.0", "gate * (1.0");
        let generated = generate(&mut model, 500).await;
        assert!(is_faulty(&generated), "{generated:?}");
        assert!(dispatches(&model) >= due, "not tested before it was due");
    }

    #[tokio::test]
    async fn damaged_weights_end_the_answer() {
        let mut model = watched_demo().await;
        let down = &model.transformer.layers[0].down.slabs[0].buffer;
        model.gpu.write(down, 4, &[0x7f7f_7f7f]);
        model.reset(64);
        let generated = generate(&mut model, 1).await;
        assert!(matches!(&generated, Err(LmError::FaultyGpu(failure)) if failure.to_string().contains("weights")), "{generated:?}");
    }

    #[tokio::test]
    async fn impossible_numbers_are_not_blamed_on_the_model() {
        let mut model = watched_demo().await;
        let (tokens, passes): (_, [Pass; 0]) = ([7; 32], []);
        let request = ScoreRequest::new(&tokens, 16..32, &passes);
        model.score(&request, async |_, _| ControlFlow::Continue(())).await.unwrap();
        break_gpu(&model, "gate / (1.0", "sqrt(-1.0 - gate * gate) / (1.0");
        let scored = model.score(&request, async |_, _| ControlFlow::Continue(())).await;
        assert!(is_faulty(&scored), "{scored:?}");
    }
}
