//! Effects of groups: how much less likely each generated sentence becomes without a whole passage of the prompt.
//!
//! ```text
//! effect(g, i) = mean over the counted tokens t of generated sentence i of ln p_t(x) - ln p_t(x^(g)), in nats per token
//! ```
//!
//! End tokens replace the group's tokens in x^(g). The effects of a group's sentences, measured one by one, do not add up to its effect: if
//! two of them say the same thing, the answer can do without either.

use std::ops::{ControlFlow, Range};

use super::perturbation::blank;
use super::transcript::Transcript;
use glasscage_engine::lm::{Callback, LanguageModel, LmError, Pass, ScoreRequest};

/// Effects of groups, and why the measurement ended early, if the model failed.
#[derive(Debug)]
pub struct GroupEffects {
    /// For each group, the effect on each generated sentence in nats per token: 0 for a sentence without counted tokens or before the
    /// group. Empty if the group was not measured.
    pub effects: Vec<Vec<f64>>,
    pub failure: Option<LmError>,
}

/// Number of passes of [`measure_groups`], the base text not counted.
pub fn n_passes(groups: &[Range<usize>]) -> usize {
    groups.iter().filter(|tokens| !tokens.is_empty()).count()
}

/// Measures the groups. `groups` are the positions of their tokens, `counted` those of the tokens of each generated sentence that count.
/// `base` contains the log-probabilities of the generated tokens in the unchanged text if they are known. `on_pass` gets the number of
/// passes done, and can cancel.
pub async fn measure_groups(
    model: &mut impl LanguageModel,
    transcript: &Transcript,
    groups: &[Range<usize>],
    counted: &[Vec<usize>],
    base: Option<&[f64]>,
    on_pass: &mut dyn Callback<usize>,
) -> GroupEffects {
    // Blanking nothing changes nothing.
    let unmeasured = |tokens: &Range<usize>| if tokens.is_empty() { vec![0.0; counted.len()] } else { Vec::new() };
    let mut effects: Vec<Vec<f64>> = groups.iter().map(unmeasured).collect();
    let with_tokens: Vec<usize> = (0..groups.len()).filter(|&g| !groups[g].is_empty()).collect();
    if with_tokens.is_empty() {
        return GroupEffects { effects, failure: None };
    }
    let passes: Vec<Pass> = with_tokens.iter().map(|&g| Pass { edits: vec![blank(transcript, &groups[g])] }).collect();
    let scored = ScoreRequest::new(&transcript.tokens, transcript.generation.clone(), &passes);
    let request = ScoreRequest { base_log_probs: base, ..scored };
    let mut unchanged = Vec::new();
    let score = model.score(&request, async |number, readout| {
        let Some(pass) = number.checked_sub(1) else {
            unchanged.clone_from(&readout.log_probs);
            return ControlFlow::Continue(());
        };
        let drop = |position: &usize| {
            let t = position - transcript.generation.start;
            unchanged[t] - readout.log_probs[t]
        };
        let mean = |counted: &Vec<usize>| counted.iter().map(drop).sum::<f64>() / counted.len().max(1) as f64;
        effects[with_tokens[pass]] = counted.iter().map(mean).collect();
        on_pass.call(number).await
    });
    let failure = score.await.err().filter(LmError::is_failure);
    GroupEffects { effects, failure }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_model::{Asked, FakeModel, text};

    /// In the fake model, an end token at position p costs the three generated tokens n/4 times p nats.
    fn measured(groups: &[Range<usize>], counted: &[Vec<usize>], stop_after: usize) -> (Vec<Vec<f64>>, Vec<usize>, FakeModel) {
        let (transcript, _) = text();
        let (mut model, mut done) = (FakeModel::additive(true), Vec::new());
        let mut on_pass = async |number| {
            done.push(number);
            if number == stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let found = measure_groups(&mut model, &transcript, groups, counted, None, &mut on_pass);
        let GroupEffects { effects, failure } = pollster::block_on(found);
        assert!(failure.is_none(), "{failure:?}");
        (effects, done, model)
    }

    #[test]
    fn effect_is_mean_drop_of_counted_tokens() {
        let groups = [1..3, 3..3, 2..5];
        let (effects, done, model) = measured(&groups, &[vec![5], vec![6, 7]], 0);
        let mean = |positions: usize, n: &[usize]| n.iter().map(|n| (n * positions) as f64 / 4.0).sum::<f64>() / n.len() as f64;
        assert_eq!(effects, [vec![mean(3, &[1]), mean(3, &[2, 3])], vec![0.0; 2], vec![mean(9, &[1]), mean(9, &[2, 3])]]);
        assert_eq!((done, n_passes(&groups)), (vec![1, 2], 2));
        assert_eq!(model.asked, [Asked { edits: 0, passes: 2, divergences: false, attended: Vec::new() }]);
        let (effects, ..) = measured(&groups[..1], &[Vec::new(), vec![7]], 0);
        assert_eq!(effects, [[0.0, mean(3, &[3])]]);
    }

    #[test]
    fn canceled_measurement_keeps_what_is_done() {
        let (effects, done, _) = measured(&[1..2, 2..3, 3..3], &[vec![5]], 1);
        assert_eq!((effects, done), (vec![vec![0.25], Vec::new(), vec![0.0]], vec![1]));
        let (effects, _, model) = measured(&[3..3, 5..5], &[vec![5]], 0);
        assert!(effects == [[0.0], [0.0]] && model.asked.is_empty());
    }
}
