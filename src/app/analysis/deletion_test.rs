//! Plans the deletion test of an explanation and evaluates the measured curves.

use super::derivation;
use super::share_texts;
use crate::explanation::Document;
use crate::metrics::{Curve, coverage, order, share_on};
use crate::request::DeletionCurves;
use crate::shares::Shares;

/// The attributions to test.
#[derive(Clone, Debug, PartialEq)]
pub struct DeletionTestPlan {
    /// The explained sentences, such as "G4".
    output: String,
    /// The derivation in words, if it differs from the paper's.
    derivation: Option<String>,
    /// Attributions of the prompt sentences: CAGE, row.
    attributions: [Vec<f64>; 2],
}

/// Result of a deletion test.
#[derive(Clone, Debug, PartialEq)]
pub struct DeletionTest {
    pub output: String,
    pub derivation: Option<String>,
    /// Results of the orders CAGE, row and random.
    pub tests: [OrderResult; 3],
    /// The answer is no less likely without the prompt, so the curves are meaningless.
    pub says_nothing: bool,
    /// Log-probability of the answer with the whole prompt and without the prompt, in nats.
    pub log_probs: [f64; 2],
}

/// Result of one deletion order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderResult {
    /// Remaining fraction of the log-probability after each deletion, from 1 to 0. The mean if there are several orders.
    pub curve: Vec<f64>,
    pub rise: f64,
    pub mas: f64,
}

/// How much of the attribution the relevant sentences receive: attribution coverage (AC) and their share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    pub ac: f64,
    pub share: f64,
}

impl DeletionTestPlan {
    pub fn new(attribution: &Shares) -> Self {
        let method = &attribution.document().method;
        let derivation = (!derivation::is_the_papers(method)).then(|| derivation::words(method));
        Self { output: share_texts::output_label(attribution), derivation, attributions: attributions(attribution) }
    }

    /// Deletion orders: CAGE, row.
    pub fn orders(&self) -> Vec<Vec<usize>> {
        self.attributions.iter().map(|attribution| order(attribution)).collect()
    }

    /// Returns `None` if the measured curves do not fit this plan.
    pub fn evaluate(self, DeletionCurves { curves, random }: &DeletionCurves) -> Option<DeletionTest> {
        let [cage, row] = &self.attributions;
        let equal = vec![1.0 / cage.len() as f64; cage.len()];
        let is_whole = |scores: &Vec<f64>| scores.len() == cage.len() + 1;
        let [of_cage, of_row] = &curves[..] else { return None };
        if random.is_empty() || !curves.iter().chain(random).all(is_whole) {
            return None;
        }
        Some(DeletionTest {
            output: self.output,
            derivation: self.derivation,
            tests: [
                OrderResult::mean(&[of_cage], cage),
                OrderResult::mean(&[of_row], row),
                OrderResult::mean(&random.iter().collect::<Vec<_>>(), &equal),
            ],
            says_nothing: Curve::new(of_cage, cage).is_rising(),
            log_probs: [of_cage[0], of_cage[cage.len()]],
        })
    }
}

impl OrderResult {
    /// Mean result of one or more deletion orders, compared with one attribution.
    fn mean(scores: &[&Vec<f64>], attribution: &[f64]) -> Self {
        let curves: Vec<Curve> = scores.iter().map(|scores| Curve::new(scores, attribution)).collect();
        let mean = |value: &dyn Fn(&Curve) -> f64| curves.iter().map(value).sum::<f64>() / curves.len() as f64;
        Self {
            curve: (0..=attribution.len()).map(|k| mean(&|curve| curve.responses()[k])).collect(),
            rise: mean(&Curve::rise),
            mas: mean(&Curve::mas),
        }
    }
}

/// The rows that the test is about: the selected ones in the last answer, or else the last row.
pub fn tested_rows(document: &Document, selected: &[usize]) -> Vec<usize> {
    let first = document.last_answer().row;
    let rows: Vec<usize> = selected.iter().copied().filter(|&row| row >= first).collect();
    if rows.is_empty() { document.table.n_generated().checked_sub(1).into_iter().collect() } else { rows }
}

/// Attributions of the prompt sentences: CAGE, row.
fn attributions(attribution: &Shares) -> [Vec<f64>; 2] {
    let prompt = 0..attribution.n_prompt();
    let of = |influence: &dyn Fn(usize) -> Option<f64>| prompt.clone().map(|j| influence(j).unwrap_or(0.0)).collect();
    [of(&|j| attribution.total(j)), of(&|j| attribution.direct(j))]
}

/// Coverage by CAGE and by row. `None` unless the relevant sentences are known and all are in the prompt.
pub fn coverages(attribution: &Shares, relevant: &[usize]) -> Option<[Coverage; 2]> {
    let is_known = !relevant.is_empty() && relevant.iter().all(|&j| j < attribution.n_prompt());
    is_known.then(|| {
        attributions(attribution)
            .map(|attribution| Coverage { ac: coverage(&attribution, relevant), share: share_on(&attribution, relevant) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::{document, with_explained_turn};

    fn attribution() -> Shares {
        Shares::of(&document())
    }

    #[test]
    fn curves_go_with_their_attributions() {
        let plan = DeletionTestPlan::new(&attribution());
        let n = plan.attributions[0].len();
        assert_eq!(plan.orders().len(), 2);
        let falling: Vec<f64> = (0..=n).map(|k| -(k as f64)).collect();
        let mut at_once = vec![-(n as f64); n + 1];
        at_once[0] = 0.0;
        let checked = DeletionCurves { curves: vec![at_once, falling.clone()], random: vec![falling.clone(), falling] };
        let check = plan.evaluate(&checked).unwrap();
        let [cage, row, random] = &check.tests;
        assert!(cage.rise < row.rise && (random.rise - 0.5).abs() < 1e-12);
        assert_eq!((random.curve[0], random.curve[n]), (1.0, 0.0));
        assert!(!check.says_nothing);
    }

    #[test]
    fn an_answer_of_another_shape_is_no_check() {
        let plan = DeletionTestPlan::new(&attribution());
        assert_eq!(plan.clone().evaluate(&DeletionCurves { curves: vec![vec![0.0]; 2], random: vec![vec![0.0]] }), None);
        assert_eq!(plan.evaluate(&DeletionCurves { curves: Vec::new(), random: Vec::new() }), None);
    }

    #[test]
    fn test_is_about_the_last_answer() {
        let document = with_explained_turn();
        let tested = [&[0][..], &[0, 2], &[1, 2], &[]].map(|selected| tested_rows(&document, selected));
        assert_eq!(tested, [vec![3], vec![2], vec![1, 2], vec![3]]);
        assert_eq!(share_texts::label_of_rows(&document, &tested[2]), "G2 and G3");
    }

    #[test]
    fn coverage_needs_sentences_that_are_there() {
        assert!(coverages(&attribution(), &[0]).is_some());
        assert_eq!(coverages(&attribution(), &[]), None);
        assert_eq!(coverages(&attribution(), &[99]), None);
    }
}
