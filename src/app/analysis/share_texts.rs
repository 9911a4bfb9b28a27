//! Shares as texts: percents, or plain numbers if rows were not divided by their sums.

use super::number;
use crate::app::i18n::text;
use crate::explanation::Document;
use crate::shares::{Scale, Shares};

/// An influence, formatted for display.
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    pub figure: String,
    /// The length of its bar, in [-1, 1].
    pub part: f64,
}

pub fn figure(scale: Scale, influence: f64) -> String {
    number::format().figure(scale, influence)
}

pub fn amount(scale: Scale, influence: f64) -> Amount {
    Amount { figure: figure(scale, influence), part: scale.part(influence) }
}

/// The total and the direct influence of source `j`, formatted: "31%", or "~31%" for an estimate.
pub fn amounts(shares: &Shares, j: usize) -> [Option<Amount>; 2] {
    let amount = |influence: f64| {
        let mut amount = amount(shares.scale(), influence);
        if shares.graph().is_estimated(j) {
            amount.figure.insert(0, '~');
        }
        amount
    };
    shares.amounts(j).map(|influence| influence.map(amount))
}

/// Value of an attribute that tests and scripts read: whole percents, or the number.
pub fn attribute(scale: Scale, influence: f64) -> String {
    match scale {
        Scale::Shares => number::whole_percent(influence).to_string(),
        Scale::Numbers { .. } => format!("{influence:.4}"),
    }
}

/// Labels of the explained sentences: "G4", "G2 and G4", "G1, G2 and G4".
pub fn output_label(shares: &Shares) -> String {
    label_of_rows(shares.document(), shares.output())
}

/// Labels of these generated sentences, as in [`output_label`].
pub fn label_of_rows(document: &Document, rows: &[usize]) -> String {
    let labels: Vec<String> = rows.iter().map(|i| document.label(document.prompt.sentences.len() + i)).collect();
    number::listed(&labels)
}

/// Unit of the scores.
pub fn score_unit(shares: &Shares) -> &str {
    shares.document().method.unit.as_deref().unwrap_or(text(shares.method().unit))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::analysis::example::{document, shares};
    use crate::explanation::Derivation;
    use crate::graph::Normalization;
    use crate::shares::AttributionGraph;
    use crate::table::Table;

    #[test]
    fn shares_are_percents_of_everything() {
        let scale = Scale::of(Normalization::Full, [0.2]);
        assert_eq!(amount(scale, 0.2), Amount { figure: "20%".into(), part: 0.2 });
    }

    #[test]
    fn numbers_stand_beside_the_largest_of_them() {
        let scale = Scale::of(Normalization::None, [0.5, -2.0, f64::INFINITY]);
        assert_eq!(amount(scale, -1.0), Amount { figure: "\u{2212}1.00".into(), part: -0.5 });
        assert_eq!(amount(scale, f64::INFINITY), Amount { figure: "too large".into(), part: 1.0 });
    }

    #[test]
    fn raw_scores_are_numbers_of_either_sign() {
        let raw = document().derived(Derivation { normalization: Normalization::None, ..Derivation::default() });
        let [_, direct] = amounts(&Shares::of(&Document { output: vec![1], ..raw }), 0);
        assert_eq!(direct, Some(Amount { figure: "\u{2212}0.500".into(), part: -1.0 }));
    }

    #[test]
    fn estimates_are_marked() {
        let mut partial = document();
        partial.table.row_mut(1)[1] = None;
        let mut graph = AttributionGraph::new(partial);
        let amounts = |graph: &AttributionGraph| amounts(&Shares::new(Arc::new(graph.clone()), &[1]), 1);
        assert_eq!(amounts(&graph), [None, None]);
        graph.set_estimate(Some(Table::from_fn(2, 4, |_, _| Some(2.0))));
        assert_eq!(amounts(&graph)[0].as_ref().unwrap().figure, "~33%");
    }

    #[test]
    fn explained_sentences_are_listed() {
        assert_eq!([[1].as_slice(), &[0, 1]].map(|output| output_label(&shares(output))), ["G2", "G1 and G2"]);
    }
}
