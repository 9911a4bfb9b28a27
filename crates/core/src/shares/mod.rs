//! The influence of each sentence of a document on the explained sentences, as pictures and tables show it.

mod evidence;
mod scale;
mod support;

pub use evidence::Evidence;
pub use scale::{Scale, percent_digits, percent_tenths};
pub use support::{LITTLE_SUPPORT, total_support};

use crate::explanation::Document;
use crate::graph::{self, Adjacency};

/// The influence of all sources on the output. Shares are divided by the number of explained sentences.
pub struct Shares {
    pub adjacency: Adjacency,
    /// The explained sentences as 0-based rows. If the document chooses none, the last one.
    pub output: Vec<usize>,
    /// CAGE and row attribution of each source. `None` if the source was not measured.
    pub amounts: Vec<[Option<f64>; 2]>,
    pub scale: Scale,
    /// Evidence for each generated sentence.
    evidence: Vec<Evidence>,
}

impl Shares {
    pub fn of(document: &Document) -> Self {
        let adjacency = graph::normalize(&document.scores(), document.method.normalization);
        let output = document.explained();
        let table = &document.table;
        let (total, direct) = (graph::node_influence(&adjacency, &output), graph::direct_influence(&adjacency, &output));
        let amounts: Vec<[Option<f64>; 2]> = (0..table.n_sources())
            .map(|j| [total[j], direct[j]].map(|sum| table.is_measured(j).then_some(sum / output.len() as f64)))
            .collect();
        let scale = Scale::of(document.method.normalization, amounts.iter().flatten().flatten().copied());
        Self { adjacency, output, amounts, scale, evidence: Evidence::of_document(document) }
    }

    pub fn n_prompt(&self) -> usize {
        self.adjacency.n_prompt()
    }

    pub fn is_output(&self, j: usize) -> bool {
        j.checked_sub(self.n_prompt()).is_some_and(|i| self.output.contains(&i))
    }

    /// Whether the source has no share to show: it is explained itself, it comes after the explained sentences, or nothing in the prompt
    /// supports those.
    pub fn has_no_share(&self, j: usize) -> bool {
        let is_later = j.checked_sub(self.n_prompt()).is_some_and(|i| self.output.last().is_some_and(|&last| i > last));
        is_later || self.is_output(j) && self.amounts[j][0] == Some(0.0) || matches!(self.output_evidence(), Evidence::Unsupported(_))
    }

    /// Evidence for source `j`. `None` if it is a prompt sentence.
    pub fn evidence(&self, j: usize) -> Option<Evidence> {
        self.evidence.get(j.checked_sub(self.n_prompt())?).copied()
    }

    /// The strongest evidence among the explained sentences.
    pub fn output_evidence(&self) -> Evidence {
        Evidence::strongest(self.output.iter().map(|&i| self.evidence[i]))
    }

    /// Strength of the highlight of an influence, in [-1, 1]: see [`Scale::strength`].
    pub fn strength(&self, influence: f64) -> f64 {
        self.scale.strength(influence, self.output_evidence())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Passage;
    use crate::explanation::example::example;
    use crate::table::Table;

    /// P1 -> G1; P2 and G1 -> G2, half each; nothing -> G3.
    fn document(output: &[usize]) -> Document {
        let rows: [&[f64]; 3] = [&[1.0, 0.0], &[0.0, 0.5, 0.5], &[0.0, 0.0, 0.0, -1.0]];
        Document {
            generation: Passage::new("A. B. C.", &[0..3, 3..6, 6..8], vec![2; 3]).into(),
            table: Table::from_fn(2, 3, |i, j| Some(rows[i][j])),
            output: output.to_vec(),
            ..example()
        }
    }

    fn amounts(document: &Document) -> Vec<[f64; 2]> {
        Shares::of(document).amounts.iter().map(|amounts| amounts.map(|amount| amount.expect("it is measured"))).collect()
    }

    /// The sources for which `holds` is true.
    fn sources(holds: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..5).filter(|&j| holds(j)).collect()
    }

    #[test]
    fn shares_are_of_all_explained_sentences_together() {
        assert_eq!(amounts(&document(&[1])), [[0.5, 0.0], [0.5, 0.5], [0.5, 0.5], [0.0, 0.0], [0.0, 0.0]]);
        assert_eq!(amounts(&document(&[0, 1])), [[0.75, 0.5], [0.25, 0.25], [0.25, 0.25], [0.0, 0.0], [0.0, 0.0]]);
    }

    #[test]
    fn where_no_sentence_is_chosen_the_last_one_is_explained() {
        let [chosen, last] = [vec![1], vec![]].map(|output| Shares::of(&Document { output, ..example() }));
        assert_eq!((last.output, last.amounts), (vec![1], chosen.amounts));
    }

    #[test]
    fn unmeasured_source_has_no_share() {
        let mut document = document(&[1]);
        document.table.row_mut(2)[1] = None;
        let shares = Shares::of(&document);
        assert_eq!([0, 1].map(|j| shares.amounts[j].map(|amount| amount.is_some())), [[true; 2], [false; 2]]);
    }

    #[test]
    fn sources_without_share_are_explained_or_later() {
        let shares = [[0, 1].as_slice(), &[1], &[2]].map(|output| Shares::of(&document(output)));
        assert_eq!(shares.each_ref().map(|shares| sources(|j| shares.is_output(j))), [vec![2, 3], vec![3], vec![4]]);
        // G1 is explained, but it has a share, because G2 is also explained and depends on it. A zero share alone does not make a source
        // hollow.
        assert_eq!(shares.each_ref().map(|shares| sources(|j| shares.has_no_share(j))), [vec![3, 4], vec![3, 4], vec![4]]);
    }

    #[test]
    fn unsupported_output_has_no_shares() {
        let shares = |output: &[usize]| Shares::of(&Document { support: vec![9.0, 0.0, 0.0], ..document(output) });
        // G2 has no support of its own, but half of it depends on G1.
        assert_eq!(
            [[0].as_slice(), &[1], &[2]].map(|output| sources(|j| shares(output).has_no_share(j))),
            [vec![2, 3, 4], vec![3, 4], vec![0, 1, 2, 3, 4]]
        );
    }

    #[test]
    fn strongest_output_evidence_sets_strength() {
        let mut document = document(&[1]);
        document.table.row_mut(1).iter_mut().flatten().for_each(|score| *score /= 1e3);
        let shares = Shares::of(&document);
        let evidence = [None, None, Some(Evidence::Clear(1.0)), Some(Evidence::Weak(1e-3)), Some(Evidence::None)];
        assert_eq!([0, 1, 2, 3, 4].map(|j| shares.evidence(j)), evidence);
        assert_eq!((shares.n_prompt(), shares.strength(0.25)), (2, 0.25));
        document.output = vec![0, 1];
        assert_eq!(Shares::of(&document).strength(0.25), 0.5);
    }
}
