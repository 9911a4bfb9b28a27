//! Compares the explanations of one answer by several methods: shares of the prompt sentences and rank agreement.

use super::deletion_test::{Coverage, coverages};
use super::number::with_point;
use super::share_texts::{self, Amount};
use crate::app::i18n::t;
use crate::explanation::MethodId;
use crate::metrics::rank_correlation;
use crate::shares::Shares;

/// A correlation of 1 may be computed as this much less.
const ROUNDING: f64 = 1e-9;

#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Label and text of each prompt sentence.
    pub sentences: Vec<(String, String)>,
    /// The method on screen comes first.
    pub methods: Vec<Compared>,
}

/// The result of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub id: String,
    pub name: String,
    /// Total influence of each prompt sentence.
    pub amounts: Vec<Option<Amount>>,
    /// AC and share of the relevant sentences, by total influence. `None` if the relevant sentences are unknown.
    pub coverage: Option<Coverage>,
    /// Context attribution: total influence of each prompt sentence, 0 if unknown.
    attribution: Vec<f64>,
}

impl Comparison {
    pub fn new(readings: &[Shares], relevant: &[usize]) -> Self {
        let sentences = readings.first().map_or_else(Vec::new, |attribution| {
            let document = attribution.document();
            let texts = document.prompt.sentence_texts().into_iter().enumerate();
            texts.map(|(j, text)| (document.label(j), text.trim().to_owned())).collect()
        });
        Self { sentences, methods: readings.iter().map(|attribution| Compared::new(attribution, relevant)).collect() }
    }

    /// Spearman's rank correlation between the context attributions of two methods. `None` if either of them does not vary.
    pub fn agreement(&self, a: usize, b: usize) -> Option<f64> {
        rank_correlation(&self.methods[a].attribution, &self.methods[b].attribution)
    }
}

impl Compared {
    fn new(attribution: &Shares, relevant: &[usize]) -> Self {
        let prompt = 0..attribution.n_prompt();
        let id = attribution.document().method.id.clone();
        Self {
            name: MethodId::named(&id).map_or_else(|| id.clone(), |method| method.text().name.to_owned()),
            id,
            amounts: prompt.clone().map(|j| share_texts::amounts(attribution, j)[0].clone()).collect(),
            coverage: coverages(attribution, relevant).map(|[cage, _]| cage),
            attribution: prompt.map(|j| attribution.total(j).unwrap_or(0.0)).collect(),
        }
    }
}

/// A correlation in words: "0.94, almost the same order".
pub fn agreement_words(correlation: Option<f64>) -> String {
    let Some(correlation) = correlation else { return t!("not defined: one method gives all sources the same share").into() };
    let figure = correlation_figure(correlation);
    match correlation {
        r if r > 1.0 - ROUNDING => t!("{figure}, the same order", figure),
        r if r > 0.9 => t!("{figure}, almost the same order", figure),
        r if r > 0.6 => t!("{figure}, a similar order", figure),
        r if r > 0.3 => t!("{figure}, a somewhat similar order", figure),
        r if r >= -0.3 => t!("{figure}, orders that have little in common", figure),
        r if r >= -0.6 => t!("{figure}, somewhat opposite orders", figure),
        r if r >= -0.9 => t!("{figure}, largely opposite orders", figure),
        r if r >= ROUNDING - 1.0 => t!("{figure}, nearly opposite orders", figure),
        _ => t!("{figure}, opposite orders", figure),
    }
}

/// Two decimals with a true minus sign.
pub fn correlation_figure(correlation: f64) -> String {
    let digits = format!("{:.2}", correlation.abs());
    let sign = if correlation < 0.0 && digits != "0.00" { "\u{2212}" } else { "" };
    with_point(&format!("{sign}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::{document, shares_in};

    #[test]
    fn methods_stand_side_by_side_with_their_agreement() {
        let pert = document();
        let mut clp = pert.clone();
        clp.method.id = "clp".into();
        clp.table.row_mut(1)[1] = Some(3.0);
        let attribution = |document| shares_in(document, &[0]);
        let mut opposite = clp.clone();
        opposite.table.row_mut(0).copy_from_slice(&[Some(0.0), Some(1.0)]);
        let comparison = Comparison::new(&[attribution(pert), attribution(clp), attribution(opposite)], &[0]);
        assert_eq!(comparison.sentences[0], ("P1".into(), "A.".into()));
        assert_eq!(comparison.methods.iter().map(|method| method.name.as_str()).collect::<Vec<_>>(), ["Pert.", "CLP", "CLP"]);
        assert_eq!((comparison.agreement(0, 1), comparison.agreement(0, 2)), (Some(1.0), Some(-1.0)));
        assert_eq!(comparison.methods[0].coverage.map(|coverage| coverage.ac), Some(1.0));
    }

    #[test]
    fn agreement_is_said_in_words_too() {
        assert_eq!(agreement_words(Some(0.943)), "0.94, almost the same order");
        assert_eq!(agreement_words(Some(0.9956)), "1.00, almost the same order");
        assert_eq!(agreement_words(Some(1.0 - 1e-12)), "1.00, the same order");
        assert_eq!(agreement_words(Some(-0.31)), "\u{2212}0.31, somewhat opposite orders");
        assert_eq!(agreement_words(Some(-0.7)), "\u{2212}0.70, largely opposite orders");
        assert_eq!(agreement_words(Some(-0.95)), "\u{2212}0.95, nearly opposite orders");
        assert_eq!(agreement_words(Some(-1.0)), "\u{2212}1.00, opposite orders");
        assert!(agreement_words(None).starts_with("not defined"));
    }
}
