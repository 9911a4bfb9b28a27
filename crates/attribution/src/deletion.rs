//! Deletion test (paper, `sec:eval`): replaces prompt sentences by end tokens, one after another and cumulatively.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::perturbation::blank;
use super::transcript::{Segments, Transcript};
use glasscage_core::rng::Rng;
use glasscage_engine::lm::{Callback, LanguageModel, LmError, Pass, ScoreRequest};
use glasscage_protocol::request::PassProgress;

/// Random orders per deletion test. The mean of their curves is the chance level.
pub const RANDOM_ORDERS: usize = 3;
/// Maximum number of passes in a request. Each pass holds up to the whole prompt, so all passes together could need gigabytes.
const PASSES_PER_REQUEST: usize = 64;

/// For each of `orders` (0-based prompt sentences): ln p of the whole generation, in nats, after its first 0, 1, .. sentences are replaced
/// by end tokens. Measures a state that several orders share once. Returns `None` if `on_pass` cancels before the last pass, or the engine
/// is stopped.
pub async fn deletion_scores(
    model: &mut impl LanguageModel,
    transcript: &Transcript,
    segments: &Segments,
    orders: &[Vec<usize>],
    on_pass: &mut dyn Callback<PassProgress>,
) -> Result<Option<Vec<Vec<f64>>>, LmError> {
    scores_by_requests(PASSES_PER_REQUEST, model, transcript, segments, orders, on_pass).await
}

/// [`deletion_scores`] with at most `passes_per_request` passes in a request.
async fn scores_by_requests(
    passes_per_request: usize,
    model: &mut impl LanguageModel,
    transcript: &Transcript,
    segments: &Segments,
    orders: &[Vec<usize>],
    on_pass: &mut dyn Callback<PassProgress>,
) -> Result<Option<Vec<Vec<f64>>>, LmError> {
    let steps = |order: &Vec<usize>| (1..=order.len()).map(|k| deleted(&order[..k], segments)).collect::<Vec<_>>();
    let steps: Vec<Vec<Vec<usize>>> = orders.iter().map(steps).collect();
    let mut numbers: BTreeMap<&[usize], usize> = BTreeMap::from([(&[][..], 0)]);
    let mut states: Vec<&[usize]> = Vec::new();
    for sentences in steps.iter().flatten() {
        numbers.entry(sentences).or_insert_with(|| {
            states.push(sentences);
            states.len()
        });
    }
    let planned = states.len();
    // Of the unchanged text, and of each state.
    let mut sums: Vec<f64> = Vec::with_capacity(planned + 1);
    let mut base: Option<Vec<f64>> = None;
    let mut first = 0;
    loop {
        let end = planned.min(first + passes_per_request);
        let edits = |sentences: &[usize]| sentences.iter().map(|&j| blank(transcript, &segments.prompt[j])).collect();
        let passes: Vec<Pass> = states[first..end].iter().map(|sentences| Pass { edits: edits(sentences) }).collect();
        let request = ScoreRequest::new(&transcript.tokens, transcript.generation.clone(), &passes);
        let request = ScoreRequest { base_log_probs: base.as_deref(), ..request };
        let (mut new_base, mut flow) = (None, ControlFlow::Continue(()));
        let score = model.score(&request, async |number, readout| {
            if number == 0 && first > 0 {
                return ControlFlow::Continue(());
            }
            if number == 0 {
                new_base = Some(readout.log_probs.clone());
            }
            sums.push(readout.log_probs.iter().sum());
            flow = on_pass.call(PassProgress { done: first + number, planned }).await;
            flow
        });
        if let Some(failure) = score.await.err().filter(LmError::is_failure) {
            return Err(failure);
        }
        if sums.len() <= end || flow.is_break() && end < planned {
            return Ok(None);
        }
        if end == planned {
            break;
        }
        base = base.or(new_base);
        first = end;
    }
    let curve = |steps: &Vec<Vec<usize>>| {
        std::iter::once(0).chain(steps.iter().map(|step| numbers[&step[..]])).map(|number| sums[number]).collect()
    };
    Ok(Some(steps.iter().map(curve).collect()))
}

/// Random orders of `n` sentences. The same seed gives the same orders.
pub fn random_orders(n: usize, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut rng = Rng::new(seed);
    let mut order = || {
        let mut order: Vec<(f64, usize)> = (0..n).map(|j| (rng.uniform(), j)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order.into_iter().map(|(_, j)| j).collect()
    };
    (0..count).map(|_| order()).collect()
}

/// Sorts the sentences by position, and drops sentences without tokens because nothing can be deleted there.
fn deleted(sentences: &[usize], segments: &Segments) -> Vec<usize> {
    let mut deleted: Vec<usize> = sentences.iter().copied().filter(|&j| !segments.prompt[j].is_empty()).collect();
    deleted.sort_unstable();
    deleted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_model::{FakeModel, text};

    /// If end tokens replace the first or the third prompt sentence, the three generated tokens lose 1/4 + 2/4 + 3/4 times 3 or 7 nats.
    #[test]
    fn deletion_curves_add_losses_and_share_passes() {
        let (transcript, segments) = text();
        let mut model = FakeModel::additive(true);
        let orders = [vec![0, 1, 2], vec![2, 1, 0]];
        let mut reported = Vec::new();
        let mut on_pass = async |pass| {
            reported.push(pass);
            ControlFlow::Continue(())
        };
        let curves = pollster::block_on(scores_by_requests(2, &mut model, &transcript, &segments, &orders, &mut on_pass));
        assert_eq!(curves.expect("it scores"), Some(vec![vec![0.0, -4.5, -4.5, -15.0], vec![0.0, -10.5, -10.5, -15.0]]));
        assert_eq!(reported, [0, 1, 2, 3].map(|done| PassProgress { done, planned: 3 }));
        assert_eq!(model.asked.iter().map(|asked| asked.passes).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(model.known_bases.len(), 1, "the second request knows the base text");
        for last in 0..=3 {
            let mut on_pass = async |pass: PassProgress| if pass.done < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
            let curves = pollster::block_on(scores_by_requests(2, &mut model, &transcript, &segments, &orders, &mut on_pass));
            assert_eq!(curves.expect("it scores").is_some(), last == 3, "stopped at {last}");
        }
    }

    #[test]
    fn random_orders_are_seeded_permutations() {
        let orders = random_orders(20, 4, 7);
        assert_eq!((orders.len(), &orders), (4, &random_orders(20, 4, 7)));
        assert_ne!(orders, random_orders(20, 4, 8));
        for (k, order) in orders.iter().enumerate() {
            let mut sentences = order.clone();
            sentences.sort_unstable();
            assert!(sentences.into_iter().eq(0..20));
            assert!(!orders[..k].contains(order), "each order is another one");
        }
    }

    #[test]
    fn deleted_sorts_sentences_and_skips_empty_ones() {
        let segments = Segments { prompt: vec![1..2, 2..2, 2..4], generation: vec![4..5, 5..5] };
        assert_eq!([[2, 0, 1], [1, 0, 2]].map(|order| deleted(&order, &segments)), [[0, 2], [0, 2]]);
    }
}
