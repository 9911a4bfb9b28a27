//! Numbers in texts: Python's `int(text, base)`, `float(text)`, and the digits of `str.isdigit`.

use super::budget::Budget;
use super::error::Result;
use super::operators::int;
use super::texts::is_space;
use super::value::Value;

/// Bases with a prefix, which Python also accepts for base 0.
const PREFIXES: [(&str, u32); 3] = [("0b", 2), ("0o", 8), ("0x", 16)];

/// The zeros of Unicode 14, as in Python 3.11. The nine characters after a zero are the other digits of its script.
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090,
    0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0,
    0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950,
    0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// Python's `int(text, base)`. `None` if the text or the base is not valid. Errors if the number is too large.
pub fn read_int(text: &str, base: i64, budget: &Budget) -> Result<Option<Value>> {
    budget.spend(2 * text.len())?;
    let text = text.trim_matches(is_space);
    let (sign, unsigned) = text.split_at(usize::from(text.starts_with(['+', '-'])));
    let has_prefix = |prefix: &str| unsigned.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let prefixed = PREFIXES.iter().find(|(prefix, own)| (base == 0 || base == i64::from(*own)) && has_prefix(prefix));
    let (base, digits) = match (prefixed, u32::try_from(base)) {
        (Some((_, own)), _) => (*own, unsigned[2..].strip_prefix('_').unwrap_or(&unsigned[2..])),
        (None, Ok(0)) => (10, unsigned),
        (None, Ok(base @ 2..=36)) => (base, unsigned),
        _ => return Ok(None),
    };
    if !digits.split('_').all(|run| !run.is_empty() && run.chars().all(|c| c.is_digit(base))) {
        return Ok(None);
    }
    int(i64::from_str_radix(&[sign, &digits.replace('_', "")].concat(), base).ok()).map(Some)
}

/// Python's `float(text)`. `None` if the text is not valid. Underscores may only be between digits.
pub fn read_float(text: &str, budget: &Budget) -> Result<Option<f64>> {
    budget.spend(2 * text.len())?;
    let text = text.trim_matches(is_space);
    let is_valid = |at: &[u8]| at[1] != b'_' || (at[0].is_ascii_digit() && at[2].is_ascii_digit());
    if text.starts_with('_') || text.ends_with('_') || !text.as_bytes().windows(3).all(is_valid) {
        return Ok(None);
    }
    Ok(text.replace('_', "").parse().ok())
}

/// Python's `str.isdecimal` for a character.
pub fn is_decimal(c: char) -> bool {
    let code = u32::from(c);
    let n_before = ZEROS.partition_point(|zero| *zero <= code);
    n_before > 0 && code - ZEROS[n_before - 1] < 10
}

/// Python's `str.isdigit` for a character: decimal digits, and digits such as `²` and `①`.
pub fn is_digit(c: char) -> bool {
    let is_other = |code: u32| {
        matches!(code, 0xb2 | 0xb3 | 0xb9 | 0x1369..=0x1371 | 0x19da | 0x2070 | 0x2074..=0x2079 | 0x2080..=0x2089 | 0x2460..=0x2468)
            || matches!(code, 0x2474..=0x247c | 0x2488..=0x2490 | 0x24ea | 0x24f5..=0x24fd | 0x24ff | 0x2776..=0x277e | 0x2780..=0x2788)
            || matches!(code, 0x278a..=0x2792 | 0x10a40..=0x10a43 | 0x10e60..=0x10e68 | 0x11052..=0x1105a | 0x1f100..=0x1f10a)
    };
    is_decimal(c) || is_other(c.into())
}
