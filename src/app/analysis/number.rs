//! Formats numbers in the visitor's language.

use crate::app::i18n::{plural, separators, t};
use crate::explanation::Unit;
use crate::shares::percent_digits;

/// A share as a whole percent: "23%", "<1%". "0%" means exactly 0.
pub fn percent(share: f64) -> String {
    t!("{number}%", number = percent_digits(share))
}

/// Replaces the decimal point with the decimal separator of the language.
pub fn with_point(digits: &str) -> String {
    let [point, _] = separators();
    digits.replace('.', point.encode_utf8(&mut [0; 4]))
}

/// Whole percents for attributes that tests and scripts read.
pub fn whole_percent(share: f64) -> i64 {
    (share * 100.0).round() as i64
}

/// Three decimals with a true minus sign: "1.250", "−0.125".
pub fn signed(number: f64) -> String {
    let digits = format!("{:.3}", number.abs());
    let sign = if number < 0.0 && digits != "0.000" { "\u{2212}" } else { "" };
    with_point(&format!("{sign}{digits}"))
}

/// A number that is not a share, rounded by its size: "0.013", "\u{2212}1.25", "1,240", "3.1\u{b7}10\u{2075}". A tiny number is
/// "\u{2248}0", not "0".
pub fn plain(number: f64) -> String {
    let digits = match number.abs() {
        0.0 => "0".into(),
        size if size < 0.0005 => return "\u{2248}0".into(),
        size if size < 1.0 => with_point(&format!("{size:.3}")),
        size if size < 10.0 => with_point(&format!("{size:.2}")),
        size if size < 100.0 => with_point(&format!("{size:.1}")),
        size if size < 9_999.5 => grouped(size.round() as u64),
        size if size.is_finite() => power_of_ten(size),
        _ => return t!("too large").into(),
    };
    if number < 0.0 { format!("\u{2212}{digits}") } else { digits }
}

/// 123456 as "1.2\u{b7}10\u{2075}".
fn power_of_ten(size: f64) -> String {
    const RAISED: [char; 10] =
        ['\u{2070}', '\u{b9}', '\u{b2}', '\u{b3}', '\u{2074}', '\u{2075}', '\u{2076}', '\u{2077}', '\u{2078}', '\u{2079}'];
    let written = format!("{size:.1e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, ""));
    let raised: String = exponent.chars().filter_map(|digit| RAISED.get(digit.to_digit(10)? as usize)).collect();
    with_point(&format!("{digits}\u{b7}10{raised}"))
}

/// A file size: "512 bytes", "3.6 MB".
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000 => plural!(n = n as usize, "{n} byte", "{n} bytes"),
        1_000..1_000_000 => with_point(&format!("{:.0} kB", n as f64 / 1e3)),
        1_000_000..1_000_000_000 => with_point(&format!("{:.1} MB", n as f64 / 1e6)),
        _ => with_point(&format!("{:.2} GB", n as f64 / 1e9)),
    }
}

/// A count with thousands separators: "12,345".
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let first = digits.len() % 3;
    let [_, separator] = separators();
    let cut = |(k, digit): (usize, char)| if k > 0 && k % 3 == first { vec![separator, digit] } else { vec![digit] };
    digits.chars().enumerate().flat_map(cut).collect()
}

/// "1 sentence", "2 words".
pub fn counted_sources(n: usize, unit: Unit) -> String {
    match unit {
        Unit::Sentence => plural!(n, "{n} sentence", "{n} sentences"),
        Unit::Word => plural!(n, "{n} word", "{n} words"),
    }
}

/// "P1, P2, P4": names in a row. Facts in a row are joined by `t!(", ")`, because Chinese separates them by another mark.
pub fn enumerated(names: impl IntoIterator<Item = String>) -> String {
    names.into_iter().reduce(|names, name| t!("{names}, {name}", names, name)).unwrap_or_default()
}

/// "P2", "P2 and P4", "P1, P2 and P4".
pub fn listed(labels: &[String]) -> String {
    match labels.split_last() {
        Some((last, rest)) if !rest.is_empty() => t!("{names} and {last}", names = enumerated(rest.to_vec()), last),
        Some((last, _)) => last.clone(),
        None => t!("nothing").into(),
    }
}

/// A remaining time, rounded because it is an estimate: "less than a second", "about 3 s", "about 2 min".
pub fn wait(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => t!("less than a second").into(),
        s if s < 100.0 => t!("about {n} s", n = s.round()),
        s => t!("about {n} min", n = (s / 60.0).max(2.0).round()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_percents_and_a_trace_is_not_nothing() {
        let written = [0.0, 0.004, 0.0149, 0.235, 1.0, -0.03].map(percent);
        assert_eq!(written, ["0%", "<1%", "1%", "24%", "100%", "\u{2212}3%"]);
    }

    #[test]
    fn scores_have_three_digits_and_no_minus_zero() {
        assert_eq!([1.25, -0.125, -0.0001].map(signed), ["1.250", "\u{2212}0.125", "0.000"]);
    }

    #[test]
    fn numbers_that_are_no_shares_have_three_digits_however_large() {
        let written = [0.0, 0.0004, -0.0131, 1.25, -47.33, 1240.4, 312_000.0, f64::NAN].map(plain);
        let expected = ["0", "\u{2248}0", "\u{2212}0.013", "1.25", "\u{2212}47.3", "1,240", "3.1\u{b7}10\u{2075}", "too large"];
        assert_eq!(written, expected);
    }

    #[test]
    fn sizes_and_counts_are_easy_to_read() {
        assert_eq!([999, 3_600_000, 1_500_000_000].map(bytes), ["999 bytes", "3.6 MB", "1.50 GB"]);
        assert_eq!([7, 123, 1_234, 1_234_567].map(grouped), ["7", "123", "1,234", "1,234,567"]);
        assert_eq!(listed(&["P1", "P2", "P4"].map(String::from)), "P1, P2 and P4");
        assert_eq!((enumerated(["P1", "P4"].map(String::from)), enumerated([])), ("P1, P4".into(), String::new()));
        assert_eq!((counted_sources(1, Unit::Word), counted_sources(0, Unit::Sentence)), ("1 word".into(), "0 sentences".into()));
    }

    #[test]
    fn waiting_times_are_coarse() {
        assert_eq!([0.2, 3.4, 130.0].map(wait), ["less than a second", "about 3 s", "about 2 min"]);
    }
}
