//! The influence of each sentence of a document on the explained sentences. The page, pictures and tables all show these numbers.

mod attribution_graph;
mod contrast;
mod evidence;
mod repetition;
mod scale;
mod support;

pub use attribution_graph::{AttributionGraph, Matrix};
pub use contrast::ContrastShares;
pub use evidence::Evidence;
pub use repetition::repeats_itself;
pub use scale::Scale;
pub use support::{LITTLE_SUPPORT, little_support, total_support};

use std::ops::Range;
use std::sync::Arc;

use crate::explanation::{Document, MethodText, Weighting};
use crate::graph::{self, Edge, GroupInfluence, Pruned};
use crate::order::by_descending;

/// How a sentence is related to the explained sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The sentence is explained.
    Output,
    /// The sentence has influence on the explained sentences.
    Source,
    /// The sentence comes before the last explained sentence but has no influence.
    NoInfluence,
    /// The sentence comes after all explained sentences, so it cannot have influence.
    Later,
    Unmeasured,
}

/// An attribution graph with its explained sentences, the output O. Influence is divided by |O|. Each share is then the probability that a
/// walk back from the output ends at a prompt sentence or passes through a generated sentence. If rows are not divided by their sums, the
/// numbers are not shares: see [`Scale`].
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    graph: Arc<AttributionGraph>,
    /// Explained sentences as 0-based rows, ascending.
    output: Vec<usize>,
    /// CAGE: total influence of each of the `n + m` sources.
    total: Vec<f64>,
    /// Row attribution: direct influence of each of the `n + m` sources.
    direct: Vec<f64>,
    /// Whether each of the `n + m` sources comes after all explained sentences in the text.
    later: Vec<bool>,
    scale: Scale,
}

impl Shares {
    /// The shares in the sentences that the document explains. If it chooses none, the last one.
    pub fn of(document: &Document) -> Self {
        Self::new(Arc::new(AttributionGraph::new(document.clone())), &document.explained())
    }

    /// The shares in the sentences `output` (0-based rows), which the caller chooses. They may be in any order. Duplicates count once, and
    /// rows that do not exist are ignored.
    pub fn new(graph: Arc<AttributionGraph>, output: &[usize]) -> Self {
        let output: Vec<usize> = (0..graph.n_generated()).filter(|i| output.contains(i)).collect();
        let per_output = |sums: Vec<f64>| -> Vec<f64> { sums.iter().map(|sum| per_output(*sum, &output)).collect() };
        let total = per_output(graph::node_influence(graph.adjacency(), &output));
        let direct = per_output(graph::direct_influence(graph.adjacency(), &output));
        let known = (0..total.len()).filter(|&j| graph.is_known(j)).flat_map(|j| [total[j], direct[j]]);
        let scale = Scale::of(graph.document().method.normalization, known);
        let places = graph.document().places();
        let last = output.last().and_then(|&i| places.get(graph.n_prompt() + i).copied());
        let later = places.iter().map(|&place| last.is_some_and(|last| place > last)).collect();
        Self { graph, output, total, direct, later, scale }
    }

    pub fn graph(&self) -> &AttributionGraph {
        &self.graph
    }

    pub fn document(&self) -> &Document {
        self.graph.document()
    }

    /// Names and descriptions of the method.
    pub fn method(&self) -> &'static MethodText {
        MethodText::of(&self.document().method.id)
    }

    pub fn n_prompt(&self) -> usize {
        self.graph.n_prompt()
    }

    /// Number of prompt and generated sentences, `n + m`.
    pub fn n_sources(&self) -> usize {
        self.total.len()
    }

    /// The explained sentences, as 0-based rows.
    pub fn output(&self) -> &[usize] {
        &self.output
    }

    /// The document with this output, for saving and sharing. If the document has no flow yet, flow weighting is removed.
    pub fn to_document(&self) -> Document {
        let mut document = Document { output: self.output.clone(), ..self.document().clone() };
        if document.flow.is_none() {
            document.method.weighting = Weighting::None;
        }
        document
    }

    /// Divides a sum over the explained sentences by their number.
    pub fn per_output(&self, sum: f64) -> f64 {
        per_output(sum, &self.output)
    }

    /// CAGE: the influence of source `j` along all paths. `None` if the source is neither measured nor estimated.
    pub fn total(&self, j: usize) -> Option<f64> {
        self.total.get(j).copied().filter(|_| self.graph.is_known(j))
    }

    /// Row attribution: the influence of source `j` in one step.
    pub fn direct(&self, j: usize) -> Option<f64> {
        self.direct.get(j).copied().filter(|_| self.graph.is_known(j))
    }

    /// [`Self::total`] and [`Self::direct`].
    pub fn amounts(&self, j: usize) -> [Option<f64>; 2] {
        [self.total(j), self.direct(j)]
    }

    /// The share of a group of prompt sentences: the sums of [`Self::total`] and [`Self::direct`] over its sentences, a half-open range.
    /// `None` if one of them is neither measured nor estimated.
    pub fn amounts_of_group(&self, [start, end]: [usize; 2]) -> [Option<f64>; 2] {
        [(start..end).map(|j| self.total(j)).sum(), (start..end).map(|j| self.direct(j)).sum()]
    }

    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Whether source `j` can be split into words: it is not a word itself, has text, and another source follows.
    /// Time: constant.
    pub fn can_expand(&self, j: usize) -> bool {
        !self.document().unit.is_word() && j + 1 < self.n_sources() && !self.graph.is_blank(j)
    }

    /// The influence of a part of source `j`, blanked out alone. `scores` are its mean scores on the generated sentences after `j`, and
    /// `tokens` is its number of tokens.
    pub fn part_influence(&self, j: usize, scores: &[f64], tokens: usize) -> f64 {
        let document = self.document();
        let first = document.generation.tokens.len().saturating_sub(scores.len());
        let counted = |(k, &score): (usize, &f64)| document.score_of_part(first + k, j, score, tokens);
        let scores: Vec<f64> = scores.iter().enumerate().map(counted).collect();
        self.per_output(graph::part_influence(self.graph.scores(), document.method.normalization, &scores, &self.output))
    }

    /// How much of the influence bypasses, passes through, and starts in the generated sentences `group` (0-based rows).
    pub fn group_influence(&self, group: &Range<usize>) -> GroupInfluence {
        let GroupInfluence { past_it, through_it, from_it } = graph::group_influence(self.graph.adjacency(), &self.output, group);
        let [past_it, through_it, from_it] = [past_it, through_it, from_it].map(|sum| self.per_output(sum));
        GroupInfluence { past_it, through_it, from_it }
    }

    /// Range of the share of source `j`, because joint effects can be credited to either of two sources. The range covers the share with
    /// all joint effects of `j`, the share with none, and the shown share. `None` if it is narrower than 0.5 % or pairs were not measured.
    pub fn range(&self, j: usize) -> Option<[f64; 2]> {
        let document = self.document();
        let share = |own: bool| {
            let counted = document.with_joint_effects_of(j, own)?;
            let adjacency = graph::normalize(&counted.scores(), document.method.normalization);
            Some(self.per_output(*graph::node_influence(&adjacency, &self.output).get(j)?))
        };
        // With compressed scores, the sum is largest if each source has half. So the shown share can be outside the other two.
        let shares = [share(false)?, share(true)?, self.total(j)?];
        let (low, high) = shares.iter().fold((f64::MAX, f64::MIN), |(low, high), &share| (low.min(share), high.max(share)));
        (high - low >= 0.005).then_some([low, high])
    }

    pub fn role(&self, j: usize) -> Role {
        let row = j.checked_sub(self.n_prompt());
        match self.total(j) {
            _ if row.is_some_and(|i| self.output.contains(&i)) => Role::Output,
            _ if self.later.get(j) == Some(&true) => Role::Later,
            None => Role::Unmeasured,
            Some(share) if share != 0.0 => Role::Source,
            Some(_) => Role::NoInfluence,
        }
    }

    pub fn is_output(&self, j: usize) -> bool {
        self.role(j) == Role::Output
    }

    /// Whether the source has no share to show: it comes after the explained sentences, it is explained itself and does not influence
    /// other explained sentences, or nothing in the prompt supports the explained sentences.
    pub fn has_no_share(&self, j: usize) -> bool {
        let is_outside = match self.role(j) {
            Role::Later => true,
            Role::Output => self.total(j) == Some(0.0),
            Role::Source | Role::NoInfluence | Role::Unmeasured => false,
        };
        is_outside || self.is_unsupported()
    }

    /// The strongest evidence among the explained sentences: whether this output can be explained at all.
    pub fn evidence(&self) -> Evidence {
        Evidence::strongest(self.output.iter().filter_map(|&i| self.graph.evidence(self.n_prompt() + i)))
    }

    /// Whether nothing in the prompt supports the explained sentences. Then their shares say nothing.
    pub fn is_unsupported(&self) -> bool {
        matches!(self.evidence(), Evidence::Unsupported(_))
    }

    /// Strength of the highlight of an influence, in [-1, 1]: see [`Scale::strength`].
    pub fn strength(&self, influence: f64) -> f64 {
        self.scale.strength(influence, self.evidence())
    }

    /// Prompt sentences with nonzero influence, largest magnitude first.
    pub fn strongest_sources(&self) -> Vec<usize> {
        self.strongest(0..self.n_prompt())
    }

    /// Generated sentences with nonzero influence, largest magnitude first.
    pub fn strongest_steps(&self) -> Vec<usize> {
        self.strongest(self.n_prompt()..self.n_sources())
    }

    fn strongest(&self, sources: Range<usize>) -> Vec<usize> {
        let sources: Vec<usize> = sources.filter(|&j| self.total(j).is_some_and(|influence| influence != 0.0)).collect();
        by_descending(&sources, |&j| self.total[j].abs())
    }

    /// Share of the walks back that end at a generated sentence without a measurable source instead of at the prompt. 0 if edges are not
    /// shares, or if the output has no evidence or no support.
    pub fn lost_share(&self) -> f64 {
        match self.scale {
            Scale::Shares if self.evidence() != Evidence::None && !self.is_unsupported() => {
                (1.0 - self.total[..self.n_prompt()].iter().sum::<f64>()).clamp(0.0, 1.0)
            }
            _ => 0.0,
        }
    }

    /// The edges that carry `share` of the influence on the output.
    pub fn prune(&self, share: f64) -> Pruned {
        graph::prune(self.graph.adjacency(), &self.output, share)
    }

    /// Edges of the strongest paths. Views draw them even if they hide weaker edges.
    pub fn edges_of_strongest_paths(&self) -> Vec<Edge> {
        graph::edges_of_strongest_paths(self.graph.adjacency(), &self.output)
    }
}

fn per_output(sum: f64, output: &[usize]) -> f64 {
    sum / output.len().max(1) as f64
}

#[cfg(test)]
mod tests;
