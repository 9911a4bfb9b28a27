//! Formats numbers as the page does.

use super::Labels;
use crate::shares::{Scale, percent_digits};

/// Formats an influence as a share, or as a number if rows were not divided by their sums.
pub fn figure(scale: Scale, influence: f64, labels: &Labels) -> String {
    match scale {
        Scale::Shares => percent(influence, labels),
        Scale::Numbers { .. } => plain(influence, labels),
    }
}

/// Formats a share as a whole percent, such as "23%" or "<1%". "0%" means exactly 0.
pub fn percent(share: f64, labels: &Labels) -> String {
    labels.percent.replace("{number}", &percent_digits(share))
}

/// Formats a number that is not a share: "0.013", "\u{2212}1.25", "1240", "3.1e5". "\u{2248}0" stands for tiny numbers other than 0.
pub fn plain(number: f64, labels: &Labels) -> String {
    let digits = match number.abs() {
        0.0 => "0".into(),
        size if size < 0.0005 => return "\u{2248}0".into(),
        size if size < 1.0 => format!("{size:.3}"),
        size if size < 10.0 => format!("{size:.2}"),
        size if size < 100.0 => format!("{size:.1}"),
        size if size < 9_999.5 => format!("{size:.0}"),
        size => format!("{size:.1e}"),
    };
    let sign = if number < 0.0 { "\u{2212}" } else { "" };
    format!("{sign}{}", digits.replace('.', labels.decimal_point.encode_utf8(&mut [0; 4])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_percents_and_a_trace_is_not_nothing() {
        let written = [0.0, 0.004, 0.0149, 0.235, 1.0, -0.03, -0.001].map(|share| percent(share, &Labels::ENGLISH));
        assert_eq!(written, ["0%", "<1%", "1%", "24%", "100%", "\u{2212}3%", "\u{2212}<1%"]);
    }

    #[test]
    fn numbers_that_are_no_shares_have_three_digits_however_large() {
        let written = [0.0, 0.0004, -0.0131, 1.25, -47.33, 1240.4, 312_000.0].map(|number| plain(number, &Labels::ENGLISH));
        assert_eq!(written, ["0", "\u{2248}0", "\u{2212}0.013", "1.25", "\u{2212}47.3", "1240", "3.1e5"]);
        let german = Labels { decimal_point: ',', percent: "{number}\u{a0}%", ..Labels::ENGLISH };
        assert_eq!([plain(1.25, &german), percent(0.5, &german)], ["1,25", "50\u{a0}%"]);
    }
}
