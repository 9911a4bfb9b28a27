//! RISE and MAS (paper, `sec:eval`): does deleting the important sentences make the answer less likely?

use crate::order::descending;

/// The prompt sentences by decreasing attribution. Equal ones stay in text order.
pub fn order(attribution: &[f64]) -> Vec<usize> {
    descending(attribution.iter().copied())
}

/// A deletion curve, and the curve that the attribution predicts.
pub struct Curve {
    responses: Vec<f64>,
    /// `d_0` = 1, `d_1`, ..: the remaining part of the attribution.
    promised: Vec<f64>,
    is_rising: bool,
}

impl Curve {
    /// The curve of `scores` `s_0..s_n`, for sentences deleted in the [`order`] of `attribution`.
    pub fn new(scores: &[f64], attribution: &[f64]) -> Self {
        let (first, last) = (scores[0], scores[scores.len() - 1]);
        let range = (first - last).abs();
        let mut lowest = 1.0;
        let responses = if range > 0.0 {
            let response = |&score: &f64| {
                lowest = ((score - last) / range).clamp(0.0, lowest);
                lowest
            };
            scores.iter().map(response).collect()
        } else {
            straight_line(scores.len())
        };
        let whole: f64 = attribution.iter().sum();
        let mut left = 1.0;
        let rest = order(attribution).into_iter().map(|j| {
            left -= if whole > 0.0 { attribution[j] / whole } else { 1.0 / attribution.len() as f64 };
            left
        });
        let promised = std::iter::once(1.0).chain(rest).collect();
        Self { responses, promised, is_rising: first <= last }
    }

    /// `r_0` = 1 to `r_n` = 0, never rising: the remaining part of the log-probability.
    pub fn responses(&self) -> &[f64] {
        &self.responses
    }

    /// RISE: the area under the responses over the share of deleted sentences. In [0, 1], lower is better.
    pub fn rise(&self) -> f64 {
        area(&self.responses)
    }

    /// MAS: the area under the responses plus their distance from the predicted curve, clipped to [0, 1] and then rescaled to it. Lower is
    /// better.
    pub fn mas(&self) -> f64 {
        let penalized = |(response, promised): (&f64, &f64)| (response + (response - promised).abs()).clamp(0.0, 1.0);
        let penalized: Vec<f64> = self.responses.iter().zip(&self.promised).map(penalized).collect();
        let (low, high) = penalized.iter().fold((f64::MAX, f64::MIN), |(low, high), &c| (low.min(c), high.max(c)));
        let stretched = |c: &f64| (c - low) / (high - low);
        area(&if high > low { penalized.iter().map(stretched).collect() } else { straight_line(penalized.len()) })
    }

    /// Whether the text without any prompt sentence is at least as likely. The curve is then meaningless, and its numbers must not be used.
    pub fn is_rising(&self) -> bool {
        self.is_rising
    }
}

/// A line from 1 to 0 in equal steps, which replaces a curve without any range.
fn straight_line(points: usize) -> Vec<f64> {
    (0..points).map(|k| 1.0 - k as f64 / (points - 1).max(1) as f64).collect()
}

/// Area under a curve over [0, 1], by the trapezoidal rule.
fn area(curve: &[f64]) -> f64 {
    curve.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).sum::<f64>() / (curve.len() - 1).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn the_first_sentence_that_does_all_leaves_half_a_step() {
        // r = 1, 0, 0; d = 1, 0, 0: as predicted.
        let curve = Curve::new(&[-1.0, -9.0, -9.0], &[1.0, 0.0]);
        assert!(close(curve.rise(), 0.25) && close(curve.mas(), 0.25));
    }

    #[test]
    fn a_promise_that_is_not_kept_costs() {
        // r = 1, 1, 0; d = 1, 0, 0; c = 1, 1 (clipped from 2), 0.
        let curve = Curve::new(&[-1.0, -1.0, -9.0], &[1.0, 0.0]);
        assert!(close(curve.rise(), 0.75) && close(curve.mas(), 0.75));
        // r = 1, 1/2, 0; d = 1, 1/4, 0; c = 1, 3/4, 0.
        let curve = Curve::new(&[-1.0, -5.0, -9.0], &[0.75, 0.25]);
        assert!(close(curve.rise(), 0.5) && close(curve.mas(), 0.625));
    }

    #[test]
    fn a_curve_never_rises_again_nor_leaves_the_range() {
        // After clipping and running minimum: 1, 1/4, 1/4, 0.
        let curve = Curve::new(&[-1.0, -7.0, -5.0, -9.0], &[3.0, 2.0, 1.0]);
        assert_eq!(curve.responses(), [1.0, 0.25, 0.25, 0.0]);
        assert!(close(curve.rise(), (1.25 / 2.0 + 0.25 + 0.125) / 3.0));
        // A score below the last one counts as the last one.
        assert!(close(Curve::new(&[-1.0, -12.0, -9.0], &[1.0, 1.0]).rise(), 0.25));
    }

    #[test]
    fn curves_that_say_nothing_are_marked() {
        assert!(close(Curve::new(&[-2.0, -2.0, -2.0], &[1.0, 1.0]).rise(), 0.5));
        assert_eq!(Curve::new(&[-2.0, -2.0, -2.0], &[1.0, 1.0]).responses(), [1.0, 0.5, 0.0]);
        assert!(Curve::new(&[-2.0, -2.0], &[1.0]).is_rising());
        assert!(Curve::new(&[-2.0, -1.0], &[1.0]).is_rising());
        assert!(!Curve::new(&[-2.0, -3.0], &[1.0]).is_rising());
    }

    #[test]
    fn an_attribution_of_nothing_promises_equal_parts() {
        let curve = Curve::new(&[-1.0, -5.0, -9.0], &[0.0, 0.0]);
        assert!(close(curve.mas(), 0.5));
    }

    #[test]
    fn equal_attributions_are_deleted_from_the_front() {
        assert_eq!(order(&[0.1, 0.4, 0.1, 0.4]), [1, 3, 0, 2]);
    }
}
