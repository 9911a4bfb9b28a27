//! Measures how well marked sentences predict an attribution.

use crate::order;

/// Influence on the sentences that a reader marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkScore {
    /// Share of all influence on the marked sentences, 0 to 1.
    pub marked: f64,
    /// The largest share that the same number of sentences can have.
    pub best: f64,
}

impl MarkScore {
    /// Score of the marked indices of `influence`, which must not be negative. Both shares are 0 if there is no influence.
    pub fn of(influence: &[f64], marked: &[usize]) -> Self {
        let total: f64 = influence.iter().sum();
        let share = |sum: f64| if total > 0.0 { sum / total } else { 0.0 };
        let largest = order::by_descending(influence, |&influence| influence);
        let marked = marked.iter().filter_map(|&j| influence.get(j));
        let best = largest.iter().take(marked.clone().count());
        Self { marked: share(marked.sum()), best: share(best.sum()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_score_compares_with_best_marks() {
        let influence = [0.1, 0.6, 0.0, 0.3];
        assert_eq!(MarkScore::of(&influence, &[1]), MarkScore { marked: 0.6, best: 0.6 });
        let two = MarkScore::of(&influence, &[0, 1]);
        assert!((two.marked - 0.7).abs() < 1e-12 && (two.best - 0.9).abs() < 1e-12);
        assert_eq!(MarkScore::of(&[0.0, 0.0], &[1]), MarkScore { marked: 0.0, best: 0.0 });
        assert_eq!(MarkScore::of(&influence, &[]), MarkScore { marked: 0.0, best: 0.0 });
    }
}
