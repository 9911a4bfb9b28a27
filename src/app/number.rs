//! Numbers as the page writes them.

/// A share as a whole percent: "23%", "<1%", "0%" only where it is nothing at all.
pub fn percent(share: f64) -> String {
    let whole = (share * 100.0).round();
    match share.abs() {
        0.0 => "0%".into(),
        small if small < 0.01 => if share > 0.0 { "<1%" } else { "\u{2212}<1%" }.into(),
        _ if whole < 0.0 => format!("\u{2212}{}%", -whole),
        _ => format!("{whole}%"),
    }
}

/// A share that may not have been measured.
pub fn percent_or_dash(share: Option<f64>) -> String {
    share.map_or_else(|| "\u{2013}".into(), percent)
}

/// Whole percents for attributes that tests and scripts read.
pub fn whole_percent(share: f64) -> i64 {
    (share * 100.0).round() as i64
}

/// Three digits after the point, with a true minus sign: "1.250", "−0.125".
pub fn signed(number: f64) -> String {
    let digits = format!("{:.3}", number.abs());
    if number < 0.0 && digits != "0.000" { format!("\u{2212}{digits}") } else { digits }
}

/// A file size: "512 bytes", "3.6 MB".
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} bytes"),
        1_000..1_000_000 => format!("{:.0} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.2} GB", n as f64 / 1e9),
    }
}

/// A count with thousands set apart: "12,345".
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let first = digits.len() % 3;
    let cut = |(k, digit): (usize, char)| if k > 0 && k % 3 == first { vec![',', digit] } else { vec![digit] };
    digits.chars().enumerate().flat_map(cut).collect()
}

/// "1 sentence", "2 sentences".
pub fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// A time still to wait, coarse enough to be true: "less than a second", "about 3 s", "about 2 min".
pub fn wait(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "less than a second".into(),
        s if s < 100.0 => format!("about {s:.0} s"),
        s => format!("about {:.0} min", (s / 60.0).max(2.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_percents_and_a_trace_is_not_nothing() {
        let written = [0.0, 0.004, 0.0149, 0.235, 1.0, -0.03].map(percent);
        assert_eq!(written, ["0%", "<1%", "1%", "24%", "100%", "\u{2212}3%"]);
        assert_eq!(percent_or_dash(None), "\u{2013}");
    }

    #[test]
    fn scores_have_three_digits_and_no_minus_zero() {
        assert_eq!([1.25, -0.125, -0.0001].map(signed), ["1.250", "\u{2212}0.125", "0.000"]);
    }

    #[test]
    fn sizes_and_counts_are_easy_to_read() {
        assert_eq!([999, 3_600_000, 1_500_000_000].map(bytes), ["999 bytes", "3.6 MB", "1.50 GB"]);
        assert_eq!([7, 123, 1_234, 1_234_567].map(grouped), ["7", "123", "1,234", "1,234,567"]);
        assert_eq!((counted(1, "edge"), counted(0, "edge")), ("1 edge".into(), "0 edges".into()));
    }

    #[test]
    fn waiting_times_are_coarse() {
        assert_eq!([0.2, 3.4, 130.0].map(wait), ["less than a second", "about 3 s", "about 2 min"]);
    }
}
