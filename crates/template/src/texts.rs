//! Text functions that filters and methods share. They pay for their output before they create it.

use std::collections::HashMap;
use std::ops::Range;

use super::arguments::Arguments;
use super::budget::{Budget, Output};
use super::error::{Result, refused};
use super::value::{Value, count};
use super::write::{write, written};

/// A letter may become up to three characters in another case.
const LONGEST_IN_OTHER_CASE: usize = 3;

pub fn upper(text: &str, budget: &Budget) -> Result<Value> {
    budget.spend(LONGEST_IN_OTHER_CASE * text.len())?;
    Ok(Value::text(text.to_uppercase()))
}

pub fn lower(text: &str, budget: &Budget) -> Result<Value> {
    budget.spend(LONGEST_IN_OTHER_CASE * text.len())?;
    Ok(Value::text(text.to_lowercase()))
}

/// Python's `str.casefold`. Letters that are equal in uppercase become equal, such as `ß` and `ss`.
pub fn folded(text: &str, budget: &Budget) -> Result<Value> {
    budget.spend(LONGEST_IN_OTHER_CASE * text.len())?;
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'ı' => folded.push(c),
            // Cherokee letters fold to uppercase.
            '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => folded.extend(c.to_uppercase()),
            c => folded.extend(c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)),
        }
    }
    Ok(Value::text(folded))
}

/// Makes the first letter uppercase and the others lowercase.
pub fn capitalize(text: &str, budget: &Budget) -> Result<Value> {
    budget.spend(LONGEST_IN_OTHER_CASE * text.len())?;
    let mut chars = text.chars();
    let mut first = chars.next().into_iter().flat_map(char::to_uppercase);
    let large: String = first.next().into_iter().chain(first.flat_map(char::to_lowercase)).collect();
    Ok(Value::text(large + &chars.as_str().to_lowercase()))
}

/// Swaps uppercase and lowercase letters.
pub fn swapped(text: &str, budget: &Budget) -> Result<Value> {
    budget.spend(LONGEST_IN_OTHER_CASE * text.len())?;
    let swap = |c: char| if c.is_uppercase() { c.to_lowercase().to_string() } else { c.to_uppercase().to_string() };
    Ok(Value::text(text.chars().map(swap).collect::<String>()))
}

/// Pads the text with `fill` to `width` characters, on the sides that the method or filter of this name pads.
pub fn padded(text: &str, width: usize, fill: &str, name: &str, budget: &Budget) -> Result<Value> {
    budget.spend(2 * text.len())?;
    let missing = width.saturating_sub(text.chars().count());
    budget.spend(missing.saturating_mul(fill.len()))?;
    let left = match name {
        "ljust" => 0,
        // CPython rounds in the same way.
        "center" => missing / 2 + (missing & width & 1),
        _ => missing,
    };
    let (sign, text) = text.split_at(usize::from(name == "zfill" && text.starts_with(['+', '-'])));
    Ok(Value::text([sign, &fill.repeat(left), text, &fill.repeat(missing - left)].concat()))
}

/// Splits a text into the text before a separator, the separator, and the text after it.
pub fn partitioned(text: &str, separator: &str, from_end: bool, budget: &Budget) -> Result<Value> {
    budget.spend(2 * text.len())?;
    let found = if from_end { text.rsplit_once(separator) } else { text.split_once(separator) };
    let parts = match (found, from_end) {
        (Some((before, after)), _) => [before, separator, after],
        (None, false) => [text, "", ""],
        (None, true) => ["", "", text],
    };
    Value::tuple(parts.map(Value::text).into(), budget)
}

/// The byte range that the arguments `start` and `end` of a search select. `None` if it starts after its end.
pub fn part(text: &str, arguments: &mut Arguments, budget: &Budget) -> Result<Option<Range<usize>>> {
    let (start, end) = (arguments.int(1, "start")?, arguments.int(2, "end")?);
    if (start, end) == (None, None) {
        return Ok(Some(0..text.len()));
    }
    budget.spend(3 * text.len())?;
    let length = text.chars().count() as i64;
    let place = |place: i64| if place < 0 { place.saturating_add(length).max(0) } else { place };
    let (start, end) = (start.map_or(0, place), end.map_or(length, place).min(length));
    let byte = |place: i64| text.char_indices().nth(count(place)).map_or(text.len(), |(byte, _)| byte);
    Ok((start <= end).then(|| byte(start)..byte(end)))
}

/// Escapes the text for HTML, unless it is already escaped.
pub fn escaped(value: &Value, budget: &Budget) -> Result<Value> {
    if let Value::Safe(_) = value {
        return Ok(value.clone());
    }
    let mut out = Output::new(budget);
    for c in written(value, budget)?.chars() {
        match c {
            '&' => out.push("&amp;")?,
            '<' => out.push("&lt;")?,
            '>' => out.push("&gt;")?,
            '"' => out.push("&#34;")?,
            '\'' => out.push("&#39;")?,
            c => out.push(c.encode_utf8(&mut [0; 4]))?,
        }
    }
    Ok(Value::Safe(out.into_text().into()))
}

/// Number of words: runs of letters, digits and `_`.
pub fn n_words(text: &str, budget: &Budget) -> Result<usize> {
    budget.spend(text.len())?;
    Ok(text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).count())
}

/// Truncates the text to `length` characters, including `end`, if it is longer than `length` plus the leeway.
pub fn truncated(text: &str, [length, leeway]: [i64; 2], kills_words: bool, end: &str, budget: &Budget) -> Result<Value> {
    budget.spend(2 * text.len() + end.len())?;
    if text.chars().count() as i64 <= length.saturating_add(leeway) {
        return Ok(Value::text(text));
    }
    let Some(kept) = length.checked_sub(end.chars().count() as i64).filter(|kept| *kept >= 0) else {
        return refused("it truncates a text to a negative length");
    };
    let kept: String = text.chars().take(count(kept)).collect();
    let whole = if kills_words { &kept[..] } else { kept.rsplit_once(' ').map_or(&kept[..], |(before, _)| before) };
    Ok(Value::text([whole, end].concat()))
}

/// Makes the first letter after each separator uppercase and the others lowercase.
pub fn title(text: &str, is_between_words: fn(char) -> bool, budget: &Budget) -> Result<Value> {
    budget.spend(LONGEST_IN_OTHER_CASE * text.len())?;
    let mut is_inside = false;
    let mut titled = String::with_capacity(text.len());
    for c in text.chars() {
        if is_inside {
            titled.extend(c.to_lowercase());
        } else {
            titled.extend(c.to_uppercase());
        }
        is_inside = !is_between_words(c);
    }
    Ok(Value::text(titled))
}

/// Whether the filter `title` capitalizes the letter after this character. Python's `str.title` does so after every non-letter.
pub fn is_before_title(c: char) -> bool {
    is_space(c) || matches!(c, '-' | '(' | '{' | '[' | '<')
}

/// Removes these characters, or white space, from the ends of the text.
pub fn trimmed<'t>(text: &'t str, chars: Option<&str>, [at_start, at_end]: [bool; 2], budget: &Budget) -> Result<&'t str> {
    budget.spend(text.len().saturating_mul(chars.map_or(1, |chars| chars.len().max(1))))?;
    let is_cut = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    let text = if at_start { text.trim_start_matches(is_cut) } else { text };
    Ok(if at_end { text.trim_end_matches(is_cut) } else { text })
}

/// Whether `c` is white space for Python's `str.isspace`.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Replaces `old` with `new`, at most `count` times.
pub fn replaced(text: &str, old: &str, new: &str, count: Option<i64>, budget: &Budget) -> Result<Value> {
    budget.spend(text.len() + old.len())?;
    let count = count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
    let found = text.matches(old).take(count).count();
    budget.spend(text.len().saturating_add(found.saturating_mul(new.len())))?;
    Ok(Value::text(text.replacen(old, new, found)))
}

/// Joins the items as text, with `separator` between them.
pub fn joined(items: &[Value], separator: &str, budget: &Budget) -> Result<Value> {
    let mut out = Output::new(budget);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(separator)?;
        }
        write(item, &mut out)?;
    }
    Ok(Value::text(out.into_text()))
}

/// Splits a text at separators, or at runs of white space. After `most` splits, the rest is one part.
pub fn split(text: &str, separator: Option<&str>, most: Option<i64>, from_end: bool, budget: &Budget) -> Result<Value> {
    budget.spend(2 * text.len())?;
    let most = most.and_then(|most| usize::try_from(most).ok()).map_or(usize::MAX, |most| most.saturating_add(1));
    let mut parts: Vec<&str> = match (separator, from_end) {
        (Some(""), _) => return refused("it splits a text at nothing"),
        (Some(separator), false) => text.splitn(most, separator).collect(),
        (Some(separator), true) => text.rsplitn(most, separator).collect(),
        (None, false) => words(text, most),
        (None, true) => last_words(text, most),
    };
    if from_end {
        parts.reverse();
    }
    texts(parts, budget)
}

fn words(text: &str, most: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let end = if words.len() + 1 == most { rest.len() } else { rest.find(is_space).unwrap_or(rest.len()) };
        words.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(is_space);
    }
    words
}

/// Like `words`, but from the end of the text, with the last word first.
fn last_words(text: &str, most: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while !rest.is_empty() {
        let start = rest.rfind(is_space).filter(|_| words.len() + 1 < most);
        let start = start.map_or(0, |at| at + rest[at..].chars().next().map_or(0, char::len_utf8));
        words.push(&rest[start..]);
        rest = rest[..start].trim_end_matches(is_space);
    }
    words
}

/// Splits a text into lines, with their line ends if `keeps_ends`.
pub fn lines(text: &str, keeps_ends: bool, budget: &Budget) -> Result<Value> {
    budget.spend(2 * text.len())?;
    texts(split_lines(text).into_iter().map(|(line, end)| if keeps_ends { end } else { line }).collect(), budget)
}

/// Python's `str.splitlines`: each line without and with its line end.
fn split_lines(text: &str) -> Vec<(&str, &str)> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(['\n', '\r', '\x0b', '\x0c', '\x1c', '\x1d', '\x1e', '\u{85}', '\u{2028}', '\u{2029}']);
        let end = end.unwrap_or(rest.len());
        let length = if rest[end..].starts_with("\r\n") { 2 } else { rest[end..].chars().next().map_or(0, char::len_utf8) };
        lines.push((&rest[..end], &rest[..end + length]));
        rest = &rest[end + length..];
    }
    lines
}

/// A list of texts.
pub fn texts(parts: Vec<&str>, budget: &Budget) -> Result<Value> {
    budget.spend(parts.iter().map(|part| part.len()).sum::<usize>() + parts.len() * size_of::<Value>())?;
    Value::list(parts.into_iter().map(Value::text).collect(), budget)
}

/// Puts `width` before each line. The first line gets it only if `first`, and empty lines only if `blank`.
pub fn indented(text: &str, width: &str, first: bool, blank: bool, budget: &Budget) -> Result<Value> {
    let mut out = Output::new(budget);
    budget.spend(text.len())?;
    // Python adds this line end, too.
    for (i, (line, _)) in split_lines(&[text, "\n"].concat()).into_iter().enumerate() {
        if i > 0 {
            out.push("\n")?;
        }
        let is_indented = if i == 0 { first } else { blank || !line.is_empty() };
        if is_indented {
            out.push(width)?;
        }
        out.push(line)?;
    }
    Ok(Value::text(out.into_text()))
}

/// Formats values with a format such as `"%s has %d"`.
pub fn formatted_by_percent(format: &str, values: &[Value], budget: &Budget) -> Result<Value> {
    let mut out = Output::new(budget);
    budget.spend(format.len() + values.len())?;
    let mut values = values.iter();
    let mut pieces = format.split('%');
    out.push(pieces.next().unwrap_or_default())?;
    let mut is_percent = false;
    for piece in pieces {
        if std::mem::take(&mut is_percent) {
            out.push("%")?;
            out.push(piece)?;
            continue;
        }
        let Some(directive) = piece.chars().next() else {
            is_percent = true;
            continue;
        };
        match (directive, values.next()) {
            ('s', Some(value)) => write(value, &mut out)?,
            ('d' | 'i', Some(value)) => out.push(&value.as_int()?.to_string())?,
            _ => return refused("it formats a text in a way that is not supported"),
        }
        out.push(&piece[directive.len_utf8()..])?;
    }
    if is_percent || values.next().is_some() {
        return refused("it formats a text in a way that is not supported");
    }
    Ok(Value::text(out.into_text()))
}

/// Formats values with a format such as `"{} has {1} and {name}"`.
pub fn formatted_by_braces(format: &str, values: &[Value], names: &[(String, Value)], budget: &Budget) -> Result<Value> {
    let mut out = Output::new(budget);
    let read = format.len() + names.iter().map(|(name, _)| name.len() + size_of::<Value>()).sum::<usize>();
    budget.spend(read)?;
    // If a name occurs twice, the first value counts.
    let names: HashMap<&str, &Value> = names.iter().rev().map(|(name, value)| (name.as_str(), value)).collect();
    let mut rest = format;
    let mut next = 0;
    while let Some(at) = rest.find(['{', '}']) {
        out.push(&rest[..at])?;
        let brace = &rest[at..at + 1];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            out.push(brace)?;
            rest = after;
            continue;
        }
        let place = rest.split_once('}').filter(|_| brace == "{").and_then(|(place, after)| {
            rest = after;
            next += usize::from(place.is_empty());
            let at = if place.is_empty() { Some(next - 1) } else { place.parse().ok() };
            let named = || names.get(place).copied();
            at.map_or_else(named, |at: usize| values.get(at))
        });
        match place {
            Some(value) => write(value, &mut out)?,
            None => return refused("it formats a text in a way that is not supported"),
        }
    }
    out.push(rest)?;
    Ok(Value::text(out.into_text()))
}
