//! Evidence for a row: the sum of its positive scores before normalization scales the row to 100 %.

use crate::graph;

/// Evidence for a generated sentence: the sum of its positive scores, in the unit of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evidence {
    /// Not fully measured: the run is in progress or was stopped.
    Unmeasured,
    /// No source has a positive score.
    None,
    Weak(f64),
    Clear(f64),
}

impl Evidence {
    /// Evidence for a row of T. Sums below `weak` are weak.
    pub fn of(row: &[Option<f64>], weak: f64) -> Self {
        let mass = graph::positive_mass(row);
        match mass {
            _ if row.iter().any(Option::is_none) => Self::Unmeasured,
            _ if mass <= 0.0 => Self::None,
            _ if mass < weak => Self::Weak(mass),
            _ => Self::Clear(mass),
        }
    }

    /// The strongest evidence among the sentences of an output, which decides whether the output can be explained.
    pub fn strongest(rows: impl IntoIterator<Item = Self>) -> Self {
        rows.into_iter().max_by(|a, b| a.rank().total_cmp(&b.rank())).unwrap_or(Self::None)
    }

    fn rank(self) -> f64 {
        match self {
            Self::Unmeasured => -1.0,
            Self::None => 0.0,
            Self::Weak(mass) | Self::Clear(mass) => mass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_is_that_with_the_largest_sum() {
        let rows = [Evidence::None, Evidence::Weak(0.01), Evidence::Clear(2.0), Evidence::Unmeasured, Evidence::Clear(1.0)];
        assert_eq!(Evidence::strongest(rows), Evidence::Clear(2.0));
        assert_eq!(Evidence::strongest([]), Evidence::None);
    }

    #[test]
    fn evidence_depends_on_threshold_and_unmeasured_cells() {
        let of = |row: &[Option<f64>]| Evidence::of(row, 0.5);
        assert_eq!(of(&[Some(3.0), None]), Evidence::Unmeasured);
        assert_eq!(of(&[Some(-3.0), Some(0.0)]), Evidence::None);
        assert_eq!(of(&[Some(-3.0), Some(0.25)]), Evidence::Weak(0.25));
        assert_eq!(of(&[Some(0.25), Some(0.25)]), Evidence::Clear(0.5));
        assert_eq!(Evidence::strongest([Evidence::None, Evidence::Unmeasured]), Evidence::None);
    }
}
