//! Measurements of a pass do not depend on the other passes of its batch.

use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use glasscage::cpu::CandleModel;
use glasscage::gpu::GpuModel;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::gpu::variant::VARIANTS;
use glasscage::lm::{Edit, LanguageModel, Pass, Readout, ScoreRequest};
use glasscage::model::gguf::Gguf;
use glasscage::model::source::NativeFile;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf");
const BATCHES: [usize; 2] = [1, 4];

fn tokens() -> Vec<u32> {
    (0..60).map(|i| 3 + (i * 37) % 500).collect()
}

/// Edits of sentences with six tokens, alone and in pairs.
fn passes() -> Vec<Pass> {
    let edit = |sentence: usize| Edit::new(6 * sentence, &[1; 6]);
    let alone = (0..3).map(|a| Pass { edits: vec![edit(a)] });
    let pairs = (0..3).flat_map(|a| (a + 1..3).map(move |b| Pass { edits: vec![edit(a), edit(b)] }));
    alone.chain(pairs).collect()
}

/// The readouts of all passes, scored in batches of `batch` passes.
async fn scored(model: &mut impl LanguageModel, batch: usize) -> Vec<Readout> {
    let (tokens, passes) = (tokens(), passes());
    let mut readouts = Vec::new();
    for some in passes.chunks(batch) {
        let request = ScoreRequest { divergences: true, ..ScoreRequest::new(&tokens, 30..60, some) };
        let take = async |number: usize, readout: &Readout| {
            if number > 0 {
                readouts.push(readout.clone());
            }
            ControlFlow::Continue(())
        };
        model.score(&request, take).await.expect("it scores");
    }
    readouts
}

async fn is_the_same_in_all_batches(mut model: impl LanguageModel) {
    let together = scored(&mut model, passes().len()).await;
    assert_eq!(together.len(), passes().len(), "one for each pass");
    for batch in BATCHES {
        assert!(scored(&mut model, batch).await == together, "{batch} at a time");
    }
}

async fn demo() -> (NativeFile, Gguf) {
    let source = NativeFile::open(Path::new(DEMO)).expect("the demo model is in the checkout");
    let gguf = Gguf::read(&source).await.expect("a GGUF file");
    (source, gguf)
}

#[tokio::test]
async fn batching_does_not_change_bits_on_cpu() {
    let (source, gguf) = demo().await;
    let model = CandleModel::load(&source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
    is_the_same_in_all_batches(model.expect("it loads").expect("nothing stopped it").0).await;
}

#[tokio::test]
async fn batching_does_not_change_bits_on_gpu() {
    let (source, gguf) = demo().await;
    for variant in VARIANTS {
        let gpu = Gpu::open(&Options { variant: Some(variant), ..Options::default() }).await.expect("a Vulkan driver");
        let model = GpuModel::load(Rc::new(gpu), &source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
        is_the_same_in_all_batches(model.expect("it loads").expect("nothing stopped it").0).await;
    }
}
