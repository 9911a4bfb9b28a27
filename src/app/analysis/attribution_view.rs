//! Shares, evidence and roles of a document's sentences for the explained ones, computed with [`crate::graph`].

use std::sync::Arc;

use super::attribution_graph::AttributionGraph;
use super::number;
use super::scale::{self, Amount};
use crate::app::i18n::text;
use crate::explanation::{Document, MethodText, Weighting};
use crate::graph::{self, Edge, Pruned};
use crate::order::by_descending;
use crate::request::Word;
use crate::shares::{Evidence, Scale};

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
pub struct AttributionView {
    graph: Arc<AttributionGraph>,
    /// Explained sentences as 0-based rows, ascending.
    output: Vec<usize>,
    /// CAGE: total influence of each of the `n + m` sources.
    total: Vec<f64>,
    /// Row attribution: direct influence of each of the `n + m` sources.
    direct: Vec<f64>,
    scale: Scale,
}

impl AttributionView {
    /// `output` may list rows in any order. Duplicates count once, and rows that do not exist are ignored.
    pub fn new(graph: Arc<AttributionGraph>, output: &[usize]) -> Self {
        let output: Vec<usize> = (0..graph.n_generated()).filter(|i| output.contains(i)).collect();
        let per_output = |sums: Vec<f64>| -> Vec<f64> { sums.iter().map(|sum| per_output(*sum, &output)).collect() };
        let total = per_output(graph::node_influence(graph.adjacency(), &output));
        let direct = per_output(graph::direct_influence(graph.adjacency(), &output));
        let scale = Scale::of(graph.document().method.normalization, total.iter().chain(&direct).copied());
        Self { graph, output, total, direct, scale }
    }

    pub fn graph(&self) -> &AttributionGraph {
        &self.graph
    }

    /// Names and descriptions of the method.
    pub fn method(&self) -> &'static MethodText {
        MethodText::of(&self.document().method.id)
    }

    /// Unit of the scores.
    pub fn score_unit(&self) -> &str {
        self.document().method.unit.as_deref().unwrap_or(text(self.method().unit))
    }

    pub fn document(&self) -> &Document {
        self.graph.document()
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

    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// An influence as text, in the format of the page.
    pub fn figure(&self, influence: f64) -> String {
        scale::figure(self.scale, influence)
    }

    /// An influence as text, with the length of its bar.
    pub fn amount(&self, influence: f64) -> Amount {
        scale::amount(self.scale, influence)
    }

    /// [`Self::total`] and [`Self::direct`], formatted: "31%", or "~31%" for an estimate.
    pub fn amounts(&self, j: usize) -> [Option<Amount>; 2] {
        let amount = |influence: f64| {
            let mut amount = self.amount(influence);
            if self.graph.is_estimated(j) {
                amount.figure.insert(0, '~');
            }
            amount
        };
        [self.total(j), self.direct(j)].map(|influence| influence.map(amount))
    }

    /// Whether source `j` can be split into words: it is a sentence with text, and another sentence follows.
    pub fn can_expand(&self, j: usize) -> bool {
        let document = self.document();
        document.unit.is_sentence() && j + 1 < self.total.len() && !document.source(j).trim().is_empty()
    }

    /// The influence of one word of source `j`, blanked out alone.
    pub fn word_influence(&self, j: usize, word: &Word) -> f64 {
        let document = self.document();
        let first = document.generation.tokens.len().saturating_sub(word.scores.len());
        let counted = |(k, &score): (usize, &f64)| document.score_of_part(first + k, j, score, word.tokens);
        let scores: Vec<f64> = word.scores.iter().enumerate().map(counted).collect();
        self.per_output(graph::part_influence(self.graph.scores(), document.method.normalization, &scores, &self.output))
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
        let row = j.checked_sub(self.graph.n_prompt());
        match self.total(j) {
            _ if row.is_some_and(|i| self.output.contains(&i)) => Role::Output,
            _ if row.is_some_and(|i| self.output.last().is_some_and(|&last| i > last)) => Role::Later,
            None => Role::Unmeasured,
            Some(share) if share != 0.0 => Role::Source,
            Some(_) => Role::NoInfluence,
        }
    }

    /// The strongest evidence among the explained sentences: whether this output can be explained at all.
    pub fn evidence(&self) -> Evidence {
        Evidence::strongest(self.output.iter().filter_map(|&i| self.graph.evidence(self.graph.n_prompt() + i)))
    }

    /// Whether nothing in the prompt supports the explained sentences. Then their shares say nothing.
    pub fn is_unsupported(&self) -> bool {
        matches!(self.evidence(), Evidence::Unsupported(_))
    }

    /// Color strength of an influence, in [-1, 1]: see [`Scale::strength`].
    pub fn strength(&self, influence: f64) -> f64 {
        self.scale.strength(influence, self.evidence())
    }

    /// Prompt sentences with nonzero influence, largest magnitude first.
    pub fn strongest_sources(&self) -> Vec<usize> {
        self.strongest(0..self.graph.n_prompt())
    }

    /// Generated sentences with nonzero influence, largest magnitude first.
    pub fn strongest_steps(&self) -> Vec<usize> {
        self.strongest(self.graph.n_prompt()..self.total.len())
    }

    fn strongest(&self, sources: std::ops::Range<usize>) -> Vec<usize> {
        let sources: Vec<usize> = sources.filter(|&j| self.total(j).is_some_and(|influence| influence != 0.0)).collect();
        by_descending(&sources, |&j| self.total[j].abs())
    }

    /// Share of the walks back that end at a generated sentence without a measurable source instead of at the prompt. 0 if edges are not
    /// shares, or if the output has no evidence or no support.
    pub fn lost_share(&self) -> f64 {
        match self.scale {
            Scale::Shares if self.evidence() != Evidence::None && !self.is_unsupported() => {
                (1.0 - self.total[..self.graph.n_prompt()].iter().sum::<f64>()).clamp(0.0, 1.0)
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

    /// Labels of the explained sentences: "G4", "G2 and G4", "G1, G2 and G4".
    pub fn output_label(&self) -> String {
        let labels: Vec<String> = self.output.iter().map(|i| self.document().label(self.graph.n_prompt() + i)).collect();
        number::listed(&labels)
    }
}

fn per_output(sum: f64, output: &[usize]) -> f64 {
    sum / output.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::attribution_graph::Matrix;
    use crate::app::analysis::attribution_graph::tests::document;
    use crate::app::analysis::joint_effects;
    use crate::explanation::{Aggregation, Compression, Derivation, JointEffect};
    use crate::graph::Normalization;

    fn read(output: &[usize]) -> AttributionView {
        AttributionView::new(Arc::new(AttributionGraph::new(document())), output)
    }

    #[test]
    fn a_share_lies_within_its_range_however_scores_are_compressed() {
        let mut pairs = document();
        pairs.alone = Some(pairs.table.clone());
        pairs.joint =
            vec![JointEffect { target: 1, sources: [1, 2], amount: 0.8, either_is_enough: Some("4".into()), only_together: None }];
        for compression in [Compression::None, Compression::Log, Compression::Bounded, Compression::Hyperbolic] {
            let derived = pairs.clone().derived(Derivation { compression, ..Derivation::default() });
            let view = AttributionView::new(Arc::new(AttributionGraph::new(derived)), &[1]);
            let ([low, high], share) = (view.range(1).unwrap(), view.total(1).unwrap());
            assert!(low <= share && share <= high && low < high, "{low} {share} {high}");
        }
        let view = AttributionView::new(Arc::new(AttributionGraph::new(pairs)), &[1]);
        assert_eq!(joint_effects::sentences(&view).len(), 1);
        assert_eq!(AttributionView::new(Arc::new(AttributionGraph::new(document())), &[1]).range(1), None);
    }

    #[test]
    fn influence_through_a_step_is_distinguished_from_direct_influence() {
        let attribution = read(&[1]);
        assert_eq!((attribution.total(0), attribution.direct(0)), (Some(0.5), Some(0.0)));
        assert_eq!((attribution.total(2), attribution.direct(2)), (Some(0.5), Some(0.5)));
        assert_eq!(attribution.strongest_steps(), [2]);
    }

    #[test]
    fn several_outputs_share_one_hundred_percent() {
        let attribution = read(&[0, 1]);
        assert_eq!((attribution.total(0), attribution.total(1)), (Some(0.75), Some(0.25)));
        assert_eq!(attribution.output_label(), "G1 and G2");
    }

    #[test]
    fn weak_and_missing_evidence_is_named() {
        assert_eq!(read(&[1]).evidence(), Evidence::Clear(1.0));
        assert_eq!(read(&[2]).evidence(), Evidence::None);
        assert_eq!(read(&[3]).evidence(), Evidence::Weak(0.01));
    }

    #[test]
    fn little_support_is_named_instead_of_evidence() {
        let unsupported = Document { support: vec![9.0, 0.0, 0.0, 0.0], ..document() };
        let read = |output: &[usize]| AttributionView::new(Arc::new(AttributionGraph::new(unsupported.clone())), output);
        assert_eq!([0, 1, 2, 3].map(|i| read(&[i]).is_unsupported()), [false, false, true, true], "G2 depends on G1");
        assert!(!read(&[0, 2]).is_unsupported());
        assert_eq!((read(&[3]).evidence(), read(&[3]).lost_share()), (Evidence::Unsupported(0.0), 0.0));
    }

    #[test]
    fn influence_that_ends_at_a_step_without_source_is_stated() {
        let mut document = document();
        document.table.row_mut(3)[4] = Some(0.03);
        let attribution = AttributionView::new(Arc::new(AttributionGraph::new(document)), &[3]);
        assert!((attribution.lost_share() - 0.75).abs() < 1e-12);
        assert_eq!(read(&[2]).lost_share(), 0.0);
    }

    #[test]
    fn every_sentence_has_a_role() {
        let attribution = read(&[1]);
        let roles: Vec<Role> = (0..5).map(|j| attribution.role(j)).collect();
        assert_eq!(roles, [Role::Source, Role::Source, Role::Source, Role::Output, Role::Later]);
    }

    #[test]
    fn weak_evidence_is_painted_fainter() {
        assert_eq!(read(&[0]).strength(1.0), 1.0);
        assert_eq!(read(&[0]).strength(0.25), 0.5);
        assert_eq!(read(&[3]).strength(1.0), 0.5);
    }

    #[test]
    fn raw_scores_are_numbers_of_either_sign() {
        let raw =
            document().derived(Derivation { aggregation: Aggregation::Mean, normalization: Normalization::None, ..Derivation::default() });
        let attribution = AttributionView::new(Arc::new(AttributionGraph::new(raw)), &[1]);
        // P1 -> G1 -> G2 adds 1 x 0.5, and P1 -> G2 subtracts 0.5. G1 itself adds 0.5.
        assert_eq!((attribution.total(0), attribution.direct(0)), (Some(0.0), Some(-0.5)));
        assert_eq!(attribution.amounts(0)[1], Some(Amount { figure: "\u{2212}0.500".into(), part: -1.0 }));
        assert_eq!((attribution.strength(-0.5), attribution.lost_share()), (-1.0, 0.0));
        assert_eq!(attribution.evidence(), Evidence::Clear(1.0));
    }

    #[test]
    fn sum_aggregation_favors_long_sentences_keeps_evidence() {
        let mut long =
            document().derived(Derivation { aggregation: Aggregation::Sum, normalization: Normalization::Full, ..Derivation::default() });
        Arc::make_mut(&mut long.prompt).tokens[1] = 6;
        let attribution = AttributionView::new(Arc::new(AttributionGraph::new(long)), &[1]);
        assert_eq!((attribution.direct(1), attribution.direct(2)), (Some(0.75), Some(0.25)));
        assert_eq!(attribution.evidence(), Evidence::Clear(1.0));
        assert_eq!([Matrix::T, Matrix::S].map(|matrix| attribution.graph().rectangle(matrix)[1][1]), [Some(0.5), Some(0.5 * 6.0 * 2.0)]);
    }

    #[test]
    fn unmeasured_source_has_no_share() {
        let mut partial = document();
        partial.table.row_mut(3)[0] = None;
        let attribution = AttributionView::new(Arc::new(AttributionGraph::new(partial)), &[3]);
        assert_eq!((attribution.total(0), attribution.role(0)), (None, Role::Unmeasured));
        assert_eq!(attribution.evidence(), Evidence::Unmeasured);
        assert_eq!(attribution.graph().rectangle(Matrix::A)[0][0], None);
    }

    #[test]
    fn order_and_duplicates_of_output_change_nothing() {
        let [sorted, listed] = [read(&[0, 1]), read(&[1, 0, 1])];
        assert_eq!(listed, sorted);
        assert_eq!((listed.output(), listed.role(4)), ([0, 1].as_slice(), Role::Later));
    }

    #[test]
    fn sentences_that_do_not_exist_are_ignored() {
        let attribution = read(&[7]);
        assert!(attribution.output().is_empty());
        assert_eq!((attribution.total(99), attribution.evidence()), (None, Evidence::None));
    }
}
