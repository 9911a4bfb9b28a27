//! Formats shares and other numbers in a language, in the same way on the page and in pictures.

use crate::shares::Scale;

/// The superscript digits from 0 to 9.
pub(crate) const SUPERSCRIPTS: [char; 10] =
    ['\u{2070}', '\u{b9}', '\u{b2}', '\u{b3}', '\u{2074}', '\u{2075}', '\u{2076}', '\u{2077}', '\u{2078}', '\u{2079}'];

/// How a language writes numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberFormat {
    pub decimal_point: char,
    pub thousands_separator: char,
    /// A percentage: "{number}%".
    pub percent: &'static str,
    /// Replaces a number that is infinite or NaN.
    pub too_large: &'static str,
}

impl NumberFormat {
    pub const ENGLISH: Self = Self { decimal_point: '.', thousands_separator: ',', percent: "{number}%", too_large: "too large" };

    /// An influence: a share, or a number if rows were not divided by their sums.
    pub fn figure(&self, scale: Scale, influence: f64) -> String {
        match scale {
            Scale::Shares => self.percent(influence),
            Scale::Numbers { .. } => self.plain(influence),
        }
    }

    /// A share as a whole percent: "23%", "<1%". "0%" means exactly 0.
    pub fn percent(&self, share: f64) -> String {
        self.percent.replace("{number}", &percent_digits(share))
    }

    /// A number that is not a share, rounded by its size: "0.013", "\u{2212}1.25", "1,240", "3.1\u{b7}10\u{2075}". A tiny number is
    /// "\u{2248}0", not "0".
    pub fn plain(&self, number: f64) -> String {
        let digits = match number.abs() {
            0.0 => "0".into(),
            size if size < 0.0005 => return "\u{2248}0".into(),
            size if size < 1.0 => self.with_point(&format!("{size:.3}")),
            size if size < 10.0 => self.with_point(&format!("{size:.2}")),
            size if size < 100.0 => self.with_point(&format!("{size:.1}")),
            size if size < 9_999.5 => self.grouped(size.round() as u64),
            size if size.is_finite() => self.power_of_ten(size),
            _ => return self.too_large.into(),
        };
        if number < 0.0 { format!("\u{2212}{digits}") } else { digits }
    }

    /// 312000 as "3.1\u{b7}10\u{2075}".
    fn power_of_ten(&self, size: f64) -> String {
        let written = format!("{size:.1e}");
        let (digits, exponent) = written.split_once('e').unwrap_or((&written, ""));
        let raised: String = exponent.chars().filter_map(|digit| SUPERSCRIPTS.get(digit.to_digit(10)? as usize)).collect();
        self.with_point(&format!("{digits}\u{b7}10{raised}"))
    }

    /// A count with thousands separators: "12,345".
    pub fn grouped(&self, n: u64) -> String {
        let digits = n.to_string();
        let first = digits.len() % 3;
        let cut = |(k, digit): (usize, char)| match k > 0 && k % 3 == first {
            true => vec![self.thousands_separator, digit],
            false => vec![digit],
        };
        digits.chars().enumerate().flat_map(cut).collect()
    }

    /// Replaces the decimal point with that of the language.
    pub fn with_point(&self, digits: &str) -> String {
        digits.replace('.', self.decimal_point.encode_utf8(&mut [0; 4]))
    }
}

/// A share as a whole percent without the percent sign: "23", "<1", "\u{2212}3". "0" means exactly 0.
pub fn percent_digits(share: f64) -> String {
    let whole = (share * 100.0).round();
    match share.abs() {
        0.0 => "0".into(),
        small if small < 0.01 => if share > 0.0 { "<1" } else { "\u{2212}<1" }.into(),
        _ if whole < 0.0 => format!("\u{2212}{}", -whole),
        _ => whole.to_string(),
    }
}

/// A share as a percentage with one decimal, such as "12.3". A share that is not 0 has at least "<0.1", because 0 means that there is no
/// effect at all.
pub fn percent_tenths(share: f64) -> String {
    let sign = if share < 0.0 { "\u{2212}" } else { "" };
    match (100.0 * share).abs() {
        trace if trace > 0.0 && trace < 0.05 => format!("{sign}<0.1"),
        percent => format!("{sign}{percent:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GERMAN: NumberFormat =
        NumberFormat { decimal_point: ',', thousands_separator: '.', percent: "{number}\u{a0}%", too_large: "zu gro\u{df}" };

    #[test]
    fn shares_are_whole_percents_and_a_trace_is_not_nothing() {
        let shares = [0.0, 0.004, 0.01, 0.0149, 0.235, 1.0, -0.001, -0.01, -0.03];
        let written = shares.map(|share| NumberFormat::ENGLISH.percent(share));
        assert_eq!(written, ["0%", "<1%", "1%", "1%", "24%", "100%", "\u{2212}<1%", "\u{2212}1%", "\u{2212}3%"]);
    }

    #[test]
    fn other_numbers_have_three_digits_however_large() {
        let numbers = [0.0, 0.0004, -0.0131, 1.25, -47.33, 1240.4, 312_000.0, f64::NAN];
        let written = numbers.map(|number| NumberFormat::ENGLISH.plain(number));
        let expected = ["0", "\u{2248}0", "\u{2212}0.013", "1.25", "\u{2212}47.3", "1,240", "3.1\u{b7}10\u{2075}", "too large"];
        assert_eq!(written, expected);
    }

    #[test]
    fn counts_have_thousands_separators() {
        assert_eq!([7, 123, 1_234, 1_234_567].map(|n| NumberFormat::ENGLISH.grouped(n)), ["7", "123", "1,234", "1,234,567"]);
    }

    #[test]
    fn numbers_follow_the_language() {
        let written = [1.25, 1240.4, -312_000.0, f64::INFINITY].map(|number| GERMAN.plain(number));
        assert_eq!(written, ["1,25", "1.240", "\u{2212}3,1\u{b7}10\u{2075}", "zu gro\u{df}"]);
        assert_eq!([GERMAN.figure(Scale::Shares, 0.5), GERMAN.figure(Scale::Numbers { largest: 1.0 }, 0.5)], ["50\u{a0}%", "0,500"]);
    }

    #[test]
    fn percent_tenths_mark_traces() {
        let shares = [0.0, 1e-9, 0.0004, 0.0006, 0.1234, 1.0, -1e-9, -0.25, -0.0];
        let expected = ["0.0", "<0.1", "<0.1", "0.1", "12.3", "100.0", "\u{2212}<0.1", "\u{2212}25.0", "0.0"];
        assert_eq!(shares.map(percent_tenths), expected);
    }
}
