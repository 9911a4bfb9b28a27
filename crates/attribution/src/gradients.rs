//! Integrated gradients (Sundararajan et al. 2017; paper, `sec:eval`) per sentence, without backpropagation.
//!
//! The path leads from end tokens to the text: x(a) = e + a (x - e) for the embeddings of all sentences together. The tokens of the chat
//! template do not change. The attribution of sentence j to `ln p_t` is the integral over a of the derivative along `x_j - e_j`. That
//! derivative is a central difference of two scoring passes, and the same two passes serve all targets. Dividing by the number `n_j` of
//! source tokens gives the mean of the block.

use std::ops::Range;

use super::attention;
use super::base_method::{AttributionMethod, Observation};
use super::round::{PlanInput, Round};
use glasscage_core::explanation::MethodId;
use glasscage_engine::lm::{Edit, Input, Pass};

/// Half the distance between the two passes of a difference, as a fraction of the path. Chosen by measurement: `tests/native/gradients.rs`.
pub const HALF_WIDTH: f32 = 0.005;

pub const INTEGRATED_GRADIENTS: AttributionMethod =
    AttributionMethod { id: MethodId::IntegratedGradients, effect: slope, divergences: false, attention: false };

/// Product of attention and integrated gradient at each target token. The paper multiplies at each pair of target and source token, and
/// then averages over the source, which is not the product of the means. In two word problems our products were about a quarter as large,
/// and their ranking of the blocks had correlations of 0.97 and 0.88 with the ranking by tokens (`tests/native/gradients.rs`).
pub const ATTENTION_GRADIENTS: AttributionMethod =
    AttributionMethod { id: MethodId::AttentionGradients, effect: weighted_slope, divergences: false, attention: true };

/// One round for each of `points`, the midpoints of equal steps. The base text is at that point of the path. Each source has two passes:
/// one farther along the path, and one less far.
pub fn rounds(points: usize, plan_input: &PlanInput<'_>) -> Vec<Round> {
    let PlanInput { transcript, segments, sources, .. } = plan_input;
    let at = |place: f32, range: &Range<usize>| {
        let input = |&token| Input { token, blend_with: transcript.end_token, blend: 1.0 - place };
        Edit { start: range.start, inputs: transcript.tokens[range.clone()].iter().map(input).collect() }
    };
    let mut sentences: Vec<&Range<usize>> = segments.prompt.iter().chain(&segments.generation).filter(|range| !range.is_empty()).collect();
    sentences.sort_by_key(|range| range.start);
    let round = |step: usize| {
        let place = (step as f32 + 0.5) / points as f32;
        let pass = |place: f32, source: &Range<usize>| Pass { edits: vec![at(place, source)] };
        let passes = |source: &Range<usize>| [HALF_WIDTH, -HALF_WIDTH].map(|further| pass(place + further, source)).to_vec();
        Round { edits: sentences.iter().map(|range| at(place, range)).collect(), passes: sources.iter().map(passes).collect() }
    };
    (0..points).map(round).collect()
}

/// The derivative of `ln p_t` along the path of the source, in nats, as the mean over the source's tokens.
fn slope(observation: &Observation<'_>, t: usize) -> f64 {
    let [further, less_far] = [0, 1].map(|i| observation.passes[i].log_probs[t]);
    (further - less_far) / f64::from(2.0 * HALF_WIDTH) / observation.length as f64
}

fn weighted_slope(observation: &Observation<'_>, t: usize) -> f64 {
    attention::weight(observation, t) * slope(observation, t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Segments, Transcript};
    use glasscage_engine::lm::Readout;

    #[test]
    fn gradient_path_blends_sentences_but_not_frame() {
        let transcript =
            Transcript { tokens: vec![9, 5, 6, 7, 8], generation: 3..5, end_token: 2, control_tokens: Vec::new(), infills: Vec::new() };
        let segments = Segments { prompt: vec![1..2, 2..3], generation: vec![3..4, 4..5] };
        let input = PlanInput { transcript: &transcript, segments: &segments, sources: &segments.prompt, infills: &[] };
        let rounds = rounds(20, &input);
        assert_eq!(rounds[0].edits.iter().map(|edit| edit.start).collect::<Vec<_>>(), [1, 2, 3, 4]);
        let less_far = rounds[0].passes[0][1].edits[0].inputs[0];
        assert_eq!((less_far.token, less_far.blend_with), (5, 2));
        let blend = |round: &Round, pass: usize| round.passes[0][pass].edits[0].inputs[0].blend;
        assert!((blend(&rounds[0], 1) - (0.975 + HALF_WIDTH)).abs() < 1e-6);
        assert!((blend(&rounds[19], 0) - (0.025 - HALF_WIDTH)).abs() < 1e-6);
    }

    #[test]
    fn slope_divides_difference_by_distance_and_length() {
        let readout = |log_prob| Readout { log_probs: vec![0.0, log_prob], ..Readout::default() };
        let (base, passes) = (readout(-9.0), [readout(-1.0), readout(-1.25)]);
        let observation = Observation { base: &base, passes: &passes, attention: &[0.0, 6.0], flow: &[], length: 4 };
        let exact = 0.25 / (2.0 * f64::from(HALF_WIDTH)) / 4.0;
        assert!(((INTEGRATED_GRADIENTS.effect)(&observation, 1) - exact).abs() < 1e-9 * exact);
        assert!(((ATTENTION_GRADIENTS.effect)(&observation, 1) - 1.5 * exact).abs() < 1e-9 * exact);
    }
}
