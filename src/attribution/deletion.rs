//! The deletion test (paper, `sec:eval`): prompt sentences become end tokens one after the other, and stay so.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::perturbation::blank;
use super::{Segments, Transcript};
use crate::lm::{Job, LanguageModel, LmError, Pass};

/// For each of `orders` (0-based prompt sentences) s_0, s_1, ..: ln p of the whole generation, in nats, when so many of them are
/// replaced by end tokens. One job for all; what several orders come to is measured once.
pub async fn deletion_scores(
    model: &mut impl LanguageModel,
    transcript: &Transcript,
    segments: &Segments,
    orders: &[Vec<usize>],
) -> Result<Vec<Vec<f64>>, LmError> {
    let steps = |order: &Vec<usize>| (1..=order.len()).map(|k| deleted(&order[..k], segments)).collect::<Vec<_>>();
    let steps: Vec<Vec<Vec<usize>>> = orders.iter().map(steps).collect();
    let mut numbers: BTreeMap<&[usize], usize> = BTreeMap::from([(&[][..], 0)]);
    let mut passes = Vec::new();
    for sentences in steps.iter().flatten() {
        numbers.entry(sentences).or_insert_with(|| {
            let edits = sentences.iter().map(|&j| blank(transcript, &segments.prompt[j])).collect();
            passes.push(Pass { edits });
            passes.len()
        });
    }
    let job = Job { tokens: &transcript.tokens, targets: transcript.generation.clone(), passes: &passes, divergences: false };
    let mut sums = vec![f64::NAN; passes.len() + 1];
    let score = model.score(&job, async |number, readout| {
        sums[number] = readout.log_probs.iter().sum();
        ControlFlow::Continue(())
    });
    score.await?;
    let curve = |steps: &Vec<Vec<usize>>| {
        std::iter::once(0).chain(steps.iter().map(|step| numbers[&step[..]])).map(|number| sums[number]).collect()
    };
    Ok(steps.iter().map(curve).collect())
}

/// The sentences in the order of the text; those without tokens have nothing to delete.
fn deleted(sentences: &[usize], segments: &Segments) -> Vec<usize> {
    let mut deleted: Vec<usize> = sentences.iter().copied().filter(|&j| !segments.prompt[j].is_empty()).collect();
    deleted.sort_unstable();
    deleted
}
