//! Shows influence as shares of the whole. If rows were not divided by their sums, shows plain numbers relative to the largest of them.

use super::Evidence;
use crate::graph::Normalization;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Shares of the whole, which is 1.
    Shares,
    /// Numbers of any sign and size. `largest` is the largest magnitude shown.
    Numbers { largest: f64 },
}

impl Scale {
    /// The scale of `influences` that were computed with this normalization.
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

    /// Part of the scale that an influence takes, in [-1, 1]. Values outside the scale are clipped, and NaN counts as 0.
    pub fn part(self, influence: f64) -> f64 {
        let part = match self {
            Self::Shares => influence,
            Self::Numbers { largest } => influence / largest,
        };
        if part.is_nan() { 0.0 } else { part.clamp(-1.0, 1.0) }
    }

    /// Strength of the highlight of an influence, in [-1, 1]: the square root of its part, so that 4 % and 1 % look different and equal
    /// shares look the same in every picture. Half of that if the evidence is weak or missing. Negative for negative influence.
    pub fn strength(self, influence: f64, evidence: Evidence) -> f64 {
        let faded = if matches!(evidence, Evidence::Weak(_) | Evidence::Unsupported(_)) { 0.5 } else { 1.0 };
        let part = self.part(influence);
        faded * part.abs().sqrt().copysign(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_or_nan_influence_stays_on_scale() {
        let scale = Scale::of(Normalization::None, [0.5, -2.0, f64::INFINITY]);
        assert_eq!([-1.0, f64::INFINITY, f64::NAN].map(|influence| scale.part(influence)), [-0.5, 1.0, 0.0]);
    }

    #[test]
    fn a_scale_of_nothing_divides_nothing_by_zero() {
        assert_eq!(Scale::of(Normalization::NonNegative, [0.0]).part(0.0), 0.0);
    }

    #[test]
    fn weak_evidence_is_painted_fainter() {
        let strength = |influence, evidence| Scale::Shares.strength(influence, evidence);
        assert_eq!([strength(0.25, Evidence::Clear(1.0)), strength(-0.25, Evidence::Clear(1.0))], [0.5, -0.5]);
        assert_eq!(strength(1.0, Evidence::Weak(0.01)), 0.5);
        assert_eq!(strength(1.0, Evidence::Unsupported(0.01)), 0.5);
    }

    #[test]
    fn only_rows_divided_by_their_sums_have_shares() {
        let of = |normalization| Scale::of(normalization, [0.5]).is_shares();
        assert_eq!([Normalization::Full, Normalization::NonNegative, Normalization::None].map(of), [true, false, false]);
    }
}
