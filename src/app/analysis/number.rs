//! Formats numbers in the visitor's language.

use crate::app::i18n::{plural, separators, t, text, translatable};
use crate::explanation::Unit;
use crate::number::NumberFormat;

/// How the visitor's language writes numbers.
pub fn format() -> NumberFormat {
    let [decimal_point, thousands_separator] = separators();
    NumberFormat { decimal_point, thousands_separator, percent: text(translatable!("{number}%")), too_large: t!("too large") }
}

/// A share as a whole percent: "23%".
pub fn percent(share: f64) -> String {
    format().percent(share)
}

/// A number that is not a share, rounded by its size: "1.25".
pub fn plain(number: f64) -> String {
    format().plain(number)
}

/// A count with thousands separators: "12,345".
pub fn grouped(n: u64) -> String {
    format().grouped(n)
}

/// Replaces the decimal point with that of the language.
pub fn with_point(digits: &str) -> String {
    format().with_point(digits)
}

/// Whole percents for attributes that tests and scripts read, and for the slider.
pub fn whole_percent(share: f64) -> i64 {
    (share * 100.0).round() as i64
}

/// Three decimals with a true minus sign: "1.250", "−0.125".
pub fn signed(number: f64) -> String {
    let digits = format!("{:.3}", number.abs());
    let sign = if number < 0.0 && digits != "0.000" { "\u{2212}" } else { "" };
    with_point(&format!("{sign}{digits}"))
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

/// "1 sentence", "2 words".
pub fn counted_units(n: usize, unit: Unit) -> String {
    match unit {
        Unit::Sentence => plural!(n, "{n} sentence", "{n} sentences"),
        Unit::Word => plural!(n, "{n} word", "{n} words"),
        Unit::Line => plural!(n, "{n} line", "{n} lines"),
        Unit::Paragraph => plural!(n, "{n} paragraph", "{n} paragraphs"),
        Unit::Section => plural!(n, "{n} section", "{n} sections"),
        Unit::Bracket => plural!(n, "{n} part", "{n} parts"),
    }
}

/// The sources of a prompt and its generation: "7 words", "2 paragraphs and 3 sentences".
pub fn counted_sources(n_prompt: usize, n_generated: usize, unit: Unit) -> String {
    let of_answer = unit.of_answer();
    match unit == of_answer {
        true => counted_units(n_prompt + n_generated, unit),
        false => listed(&[counted_units(n_prompt, unit), counted_units(n_generated, of_answer)]),
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
    fn without_a_catalog_numbers_are_english() {
        assert_eq!(format(), NumberFormat::ENGLISH);
    }

    #[test]
    fn scores_have_three_digits_and_no_minus_zero() {
        assert_eq!([1.25, -0.125, -0.0001].map(signed), ["1.250", "\u{2212}0.125", "0.000"]);
    }

    #[test]
    fn sizes_and_counts_are_easy_to_read() {
        assert_eq!([999, 3_600_000, 1_500_000_000].map(bytes), ["999 bytes", "3.6 MB", "1.50 GB"]);
        assert_eq!(listed(&["P1", "P2", "P4"].map(String::from)), "P1, P2 and P4");
        assert_eq!((enumerated(["P1", "P4"].map(String::from)), enumerated([])), ("P1, P4".into(), String::new()));
        assert_eq!((counted_units(1, Unit::Word), counted_units(0, Unit::Sentence)), ("1 word".into(), "0 sentences".into()));
        assert_eq!(counted_sources(2, 1, Unit::Line), "3 lines");
        assert_eq!(counted_sources(2, 1, Unit::Paragraph), "2 paragraphs and 1 sentence");
    }

    #[test]
    fn waiting_times_are_coarse() {
        assert_eq!([0.2, 3.4, 130.0].map(wait), ["less than a second", "about 3 s", "about 2 min"]);
    }
}
