//! Information flow through attention and values: how much each source contributes to a sentence, in one pass. Nothing is perturbed.
//!
//! In the row that predicts a token, head h of a layer has attention weights alpha and values v. It outputs `o_h`, the sum over all
//! positions of alpha v (value-weighted attention; Kobayashi et al. 2020, arXiv 2004.10102). Each source has a share in this output, as in
//! the decompositions of Ferrando et al. (2022, arXiv 2203.04212; 2024, arXiv 2403.00824). Here the share is a projection:
//!
//! ```text
//! f_h(j) = sum over s in source j of alpha_h(s) v_h(s) . o_h / sum over heads of |o_h|^2
//! T(j) = mean over the tokens of the sentence of the sum over layers and heads of max(0, f_h(j))^2
//! ```
//!
//! In a layer the shares of all heads and positions add up to 1. Squaring reduces the small shares that every sentence gets.
//! `docs/research/flow-trial.md` lists the tested alternatives, `docs/results.md` the results.

use super::base_method::{AttributionMethod, Observation};
use super::transcript::{Segments, Transcript};
use glasscage_core::explanation::MethodId;
use glasscage_core::table::Table;

pub const FLOW: AttributionMethod = AttributionMethod { id: MethodId::Flow, effect: flow, divergences: false, attention: true };

/// Flow from the source to the row that predicts token t.
fn flow(observation: &Observation<'_>, t: usize) -> f64 {
    observation.flow[t]
}

/// The table of this method, computed from the flow in the unchanged text. `flow` is `[generated tokens, sources with tokens]`, see
/// [`Readout`](glasscage_engine::lm::Readout). Its sources are in the order of the text.
pub fn flow_table(transcript: &Transcript, segments: &Segments, flow: &[f64]) -> Table {
    let sources: Vec<usize> = segments.sources_with_tokens().collect();
    let mut column_of = vec![None; segments.prompt.len() + segments.generation.len()];
    sources.iter().enumerate().for_each(|(k, &j)| column_of[j] = Some(k));
    let score = |i: usize, j: usize| {
        let Some(k) = column_of[j].filter(|_| !segments.is_after(j, i)) else { return Some(0.0) };
        let target = &segments.generation[i];
        let tokens = target.start - transcript.generation.start..target.end - transcript.generation.start;
        let n_tokens = tokens.len().max(1) as f64;
        Some(tokens.map(|t| flow[t * sources.len() + k]).sum::<f64>() / n_tokens)
    };
    Table::from_fn(segments.prompt.len(), segments.generation.len(), score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glasscage_engine::lm::Readout;

    #[test]
    fn a_source_counts_as_a_whole_however_long_it_is() {
        let base = Readout::default();
        let observation = Observation { base: &base, passes: &[], attention: &[3.0, 3.0], flow: &[0.5, 0.25], length: 7 };
        assert_eq!([0, 1].map(|t| (FLOW.effect)(&observation, t)), [0.5, 0.25]);
    }

    #[test]
    fn flow_table_averages_tokens_and_zeroes_empty_sources() {
        let transcript = Transcript { tokens: vec![5; 8], generation: 4..8, end_token: 2, control_tokens: Vec::new(), infills: Vec::new() };
        let segments = Segments { prompt: vec![1..2, 2..2, 2..4], generation: vec![4..6, 6..7, 7..8] };
        // Flow into tokens 4 to 7, each from the first, third, fourth and fifth source.
        let flow = [[1.0, 2.0, 0.0, 0.0], [3.0, 4.0, 8.0, 0.0], [5.0, 6.0, 7.0, 0.0], [9.0, 10.0, 11.0, 12.0]];
        let table = flow_table(&transcript, &segments, flow.as_flattened());
        let rows: [&[f64]; 3] = [&[2.0, 0.0, 3.0], &[5.0, 0.0, 6.0, 7.0], &[9.0, 0.0, 10.0, 11.0, 12.0]];
        assert_eq!(table, Table::from_fn(3, 3, |i, j| Some(rows[i][j])));
    }
}
