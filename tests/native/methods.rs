//! The cost of each method: the engine's work equals the work of its passes.

use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use std::slice;

use crate::is_thorough;
use crate::models::{self, SHAPES, TOKENS};
use candle_core::quantized::GgmlDType;
use glasscage::attribution::measure::measure;
use glasscage::attribution::measured::{MeasureProgress, MeasureRequest, Measured};
use glasscage::attribution::{AttributionMethod, Segments, Transcript, method, methods};
use glasscage::cpu::CandleModel;
use glasscage::explanation::{MethodId, Replacement, ScoredTexts};
use glasscage::gpu::GpuModel;
use glasscage::gpu::device::{Gpu, Options};
use glasscage::gpu::variant::VARIANTS;
use glasscage::lm::{Callback, LanguageModel};
use glasscage::model::gguf::Gguf;
use glasscage::model::source::BytesInMemory;

/// Tokens through the transformer, and positions through the LM head.
type Work = [usize; 2];

/// A text of 72 tokens after a frame of 2: two prompt sentences and three generated sentences.
fn text() -> (Transcript, Segments) {
    let segments = Segments { prompt: vec![2..11, 11..30], generation: vec![30..44, 44..60, 60..72] };
    let infills = (0..segments.n_sources()).map(|j| vec![5; segments.source(j).len()]).collect();
    (Transcript { tokens: TOKENS.to_vec(), generation: 30..72, end_token: 2, control_tokens: vec![2], infills }, segments)
}

/// Expected work: the base text up to its last prediction, and the tokens from the start of each source. If `keeps_text`, a pass does not
/// read the unchanged text before its start again.
fn formula(method: &AttributionMethod, transcript: &Transcript, segments: &Segments, keeps_text: bool) -> Work {
    let (length, generation) = (transcript.tokens.len(), transcript.generation.clone());
    let sources: Vec<&Range<usize>> = (0..segments.n_sources()).map(|j| segments.source(j)).collect();
    let base = [length - 1, generation.len()];
    let of_passes = [
        sources.iter().map(|source| length - 1 - source.start).sum::<usize>(),
        sources.iter().map(|source| length - generation.start.max(source.start + 1)).sum::<usize>(),
    ];
    let heads = if method.divergences { 2 } else { 1 };
    let spans = match method.scored_texts() {
        // The text up to the token before the last span, then each token of each span.
        ScoredTexts::WithoutEach(Replacement::Infill) => {
            let filled = sources.iter().map(|source| source.len()).sum::<usize>();
            [sources.last().unwrap().start - 1 + filled, filled]
        }
        _ => [0, 0],
    };
    // A method without passes reads only the base text. A path method reads one base text per point, and the text itself for attention.
    let rounds = (method.text().passes() / 2).max(1);
    let passes_each = method.text().passes().min(2);
    // For pairs: the text without each source except the last, up to the last source, because a pass has already scored it. Then the text
    // without a later source, too.
    let pairs = (0..sources.len()).filter(|_| method.text().measures_pairs()).map(|j| {
        let later = &sources[j + 1..];
        let read_already = if keeps_text { sources[j].start } else { 0 };
        [
            later.last().map_or(0, |last| last.start - read_already) + later.iter().map(|source| length - 1 - source.start).sum::<usize>(),
            later.iter().map(|source| length - generation.start.max(source.start + 1)).sum::<usize>(),
        ]
    });
    let of_pairs = pairs.fold([0, 0], |sum, work| [sum[0] + work[0], sum[1] + work[1]]);
    let looks = usize::from(method.attention && method.text().passes() > 0);
    [
        rounds * (base[0] + passes_each * of_passes[0]) + looks * base[0] + spans[0] + of_pairs[0],
        rounds * (base[1] + passes_each * heads * of_passes[1]) + looks * base[1] + spans[1] + of_pairs[1],
    ]
}

/// Measures with a new model. Returns the measurements and the work.
fn measured(request: &MeasureRequest<'_>) -> (Measured, Work) {
    measured_with_progress(request, &mut async |_| ControlFlow::Continue(()))
}

fn measured_with_progress(request: &MeasureRequest<'_>, on_progress: &mut dyn Callback<MeasureProgress>) -> (Measured, Work) {
    let shape = SHAPES.iter().find(|shape| shape.name == "qwen3").unwrap();
    let file = BytesInMemory(models::file(shape, GgmlDType::F32));
    pollster::block_on(async {
        let gguf = Gguf::read(&file).await.unwrap();
        let loaded = CandleModel::load(&file, &gguf, &mut async |_| ControlFlow::Continue(())).await;
        let mut model = loaded.unwrap().unwrap().0;
        let measured = measure(&mut model, request, on_progress).await;
        let counters = model.counters();
        (measured, [counters.forward_tokens, counters.head_positions])
    })
}

#[test]
fn methods_do_work_of_formula() {
    let (transcript, segments) = text();
    for method in methods() {
        let (measured, work) = measured(&MeasureRequest::new(&[method], &transcript, &segments));
        assert!(measured.failure.is_none() && measured.tables[0].n_unmeasured() == 0, "{}", method.id);
        assert_eq!(work, formula(method, &transcript, &segments, true), "{}", method.id);
    }
}

/// Checks the work of some methods, each counted from the end of the previous one.
async fn does_the_work_of_its_formula(mut model: impl LanguageModel, what: &str) {
    let (transcript, segments) = text();
    for id in [MethodId::Perturbation, MethodId::Pairs, MethodId::Reagent] {
        let (methods, before) = ([method(id)], model.counters());
        let request = MeasureRequest::new(&methods, &transcript, &segments);
        assert!(measure(&mut model, &request, &mut async |_| ControlFlow::Continue(())).await.failure.is_none(), "{what}, {id}");
        let after = model.counters();
        let work = [after.forward_tokens - before.forward_tokens, after.head_positions - before.head_positions];
        assert_eq!(work, formula(methods[0], &transcript, &segments, false), "{what}, {id}");
        // A GPU reads back four numbers per position if no flow is summed. Layers read back nothing.
        if id == MethodId::Perturbation && after.dispatches > 0 {
            assert_eq!(after.bytes_read_back - before.bytes_read_back, 16 * work[1] as u64, "{what}");
        }
    }
}

#[tokio::test]
async fn recurrent_layers_need_no_extra_tokens() {
    for (i, name) in ["lfm2", "qwen35"].into_iter().enumerate() {
        let shape = SHAPES.iter().find(|shape| shape.name == name).unwrap();
        let file = BytesInMemory(models::file(shape, GgmlDType::F32));
        let gguf = Gguf::read(&file).await.unwrap();
        let cpu = CandleModel::load(&file, &gguf, &mut async |_| ControlFlow::Continue(())).await;
        does_the_work_of_its_formula(cpu.unwrap().unwrap().0, name).await;
        // Test the variants in turn, unless all cases run.
        for variant in if is_thorough() { VARIANTS } else { slice::from_ref(&VARIANTS[i]) } {
            let gpu = Gpu::open(&Options { variant: Some(variant), ..Options::default() }).await.expect("a Vulkan driver");
            let model = GpuModel::load(Rc::new(gpu), &file, &gguf, &mut async |_| ControlFlow::Continue(())).await;
            does_the_work_of_its_formula(model.unwrap().unwrap().0, &format!("{name} on {}", variant.name)).await;
        }
    }
}

#[test]
fn methods_with_same_passes_share_work() {
    let (transcript, segments) = text();
    let both: Vec<&AttributionMethod> = methods().filter(|method| [MethodId::Perturbation, MethodId::Clp].contains(&method.id)).collect();
    let (measured, work) = measured(&MeasureRequest::new(&both, &transcript, &segments));
    assert_eq!(measured.tables.len(), 2);
    assert_eq!(work, formula(both[1], &transcript, &segments, true));
}

#[test]
fn flow_first_needs_no_extra_tokens_or_changes() {
    let (transcript, mut segments) = text();
    // A sentence without a token.
    segments.prompt.insert(1, 11..11);
    let (flow, _) = measured(&MeasureRequest::new(&[method(MethodId::Flow)], &transcript, &segments));
    for id in [MethodId::Perturbation, MethodId::Clp, MethodId::Pairs, MethodId::IntegratedGradients] {
        let methods = [method(id)];
        let request = MeasureRequest::new(&methods, &transcript, &segments);
        let (alone, work) = measured(&request);
        let mut told = Vec::new();
        let mut on_progress = async |progress| {
            match progress {
                MeasureProgress::Base { flow: Some(flow) } => told.push(flow),
                MeasureProgress::Column(_) => assert_eq!(told.len(), 1, "{id}: before any column, and once"),
                _ => {}
            }
            ControlFlow::Continue(())
        };
        let (measured, work_with_flow) = measured_with_progress(&MeasureRequest { flow_first: true, ..request }, &mut on_progress);
        assert_eq!(told, flow.tables, "{id}");
        assert_eq!(measured.tables, alone.tables, "{id}");
        // If every base text is perturbed, the text itself is read once more.
        let more = if id == MethodId::IntegratedGradients { [transcript.tokens.len() - 1, transcript.generation.len()] } else { [0, 0] };
        assert_eq!(work_with_flow, [work[0] + more[0], work[1] + more[1]], "{id}");
    }
}
