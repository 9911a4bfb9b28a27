//! Formats influence: as percents if it is a share, or as plain numbers if rows were not divided by their sums.

use super::number;
use crate::shares::Scale;

/// An influence, formatted for display.
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    pub figure: String,
    /// The length of its bar, in [-1, 1].
    pub part: f64,
}

pub fn figure(scale: Scale, influence: f64) -> String {
    match scale {
        Scale::Shares => number::percent(influence),
        Scale::Numbers { .. } => number::plain(influence),
    }
}

pub fn amount(scale: Scale, influence: f64) -> Amount {
    Amount { figure: figure(scale, influence), part: scale.part(influence) }
}

/// Value of an attribute that tests and scripts read: whole percents, or the number.
pub fn attribute(scale: Scale, influence: f64) -> String {
    match scale {
        Scale::Shares => number::whole_percent(influence).to_string(),
        Scale::Numbers { .. } => format!("{influence:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Normalization;

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
}
