//! How influence is written and painted: shares of the whole, or, where rows were not divided by their sums, plain numbers
//! beside the largest of them.

use super::number;
use crate::graph::Normalization;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// 1 is everything.
    Shares,
    /// Of any sign and size; the largest magnitude on screen.
    Numbers { largest: f64 },
}

/// One influence, ready to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    pub figure: String,
    /// The length of its bar, in [-1, 1].
    pub part: f64,
}

impl Scale {
    /// The scale of `influences`, which follow from edges made in this way.
    pub fn of(normalization: Normalization, influences: impl IntoIterator<Item = f64>) -> Self {
        match normalization {
            Normalization::Full => Self::Shares,
            Normalization::NonNegative | Normalization::None => {
                let sizes = influences.into_iter().map(f64::abs).filter(|size| size.is_finite());
                Self::Numbers { largest: sizes.fold(f64::MIN_POSITIVE, f64::max) }
            }
        }
    }

    pub fn is_shares(self) -> bool {
        self == Self::Shares
    }

    /// How much of the scale an influence takes, in [-1, 1]. What is too large for a number takes all of it.
    pub fn part(self, influence: f64) -> f64 {
        let part = match self {
            Self::Shares => influence,
            Self::Numbers { largest } => influence / largest,
        };
        if part.is_nan() { 0.0 } else { part.clamp(-1.0, 1.0) }
    }

    pub fn figure(self, influence: f64) -> String {
        match self {
            Self::Shares => number::percent(influence),
            Self::Numbers { .. } => number::plain(influence),
        }
    }

    pub fn amount(self, influence: f64) -> Amount {
        Amount { figure: self.figure(influence), part: self.part(influence) }
    }

    /// For attributes that tests and scripts read: whole percents, or the number.
    pub fn attribute(self, influence: f64) -> String {
        match self {
            Self::Shares => number::whole_percent(influence).to_string(),
            Self::Numbers { .. } => format!("{influence:.4}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percents_of_everything() {
        let scale = Scale::of(Normalization::Full, [0.2]);
        assert_eq!(scale.amount(0.2), Amount { figure: "20%".into(), part: 0.2 });
    }

    #[test]
    fn numbers_stand_beside_the_largest_of_them() {
        let scale = Scale::of(Normalization::None, [0.5, -2.0, f64::INFINITY]);
        assert_eq!(scale.amount(-1.0), Amount { figure: "\u{2212}1.00".into(), part: -0.5 });
        assert_eq!(scale.amount(f64::INFINITY), Amount { figure: "too large".into(), part: 1.0 });
        assert_eq!(scale.part(f64::NAN), 0.0);
    }

    #[test]
    fn a_scale_of_nothing_divides_nothing_by_zero() {
        assert_eq!(Scale::of(Normalization::NonNegative, [0.0]).part(0.0), 0.0);
    }
}
