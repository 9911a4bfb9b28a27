//! Functions of texts that filters and methods share; what they write is paid for before it is made.

use super::budget::{Budget, Output};
use super::error::{Result, refused};
use super::value::Value;
use super::write::write;

/// A letter in another case may be three characters.
const LONGEST_IN_OTHER_CASE: usize = 3;

pub fn upper(text: &str, budget: &Budget) -> Result<Value> {
    budget.spend(LONGEST_IN_OTHER_CASE * text.len())?;
    Ok(Value::text(text.to_uppercase()))
}

pub fn lower(text: &str, budget: &Budget) -> Result<Value> {
    budget.spend(LONGEST_IN_OTHER_CASE * text.len())?;
    Ok(Value::text(text.to_lowercase()))
}

/// The first letter large, the others small.
pub fn capitalize(text: &str, budget: &Budget) -> Result<Value> {
    budget.spend(LONGEST_IN_OTHER_CASE * text.len())?;
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    Ok(Value::text(first + &chars.as_str().to_lowercase()))
}

/// The first letter after each of these characters large, the others small.
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

/// What is between words to the filter `title`; to Python's `str.title`, whatever is no letter.
pub fn is_before_title(c: char) -> bool {
    is_space(c) || matches!(c, '-' | '(' | '{' | '[' | '<')
}

/// The text without these characters at its ends, or without white space.
pub fn trimmed<'t>(text: &'t str, chars: Option<&str>, [at_start, at_end]: [bool; 2], budget: &Budget) -> Result<&'t str> {
    budget.spend(text.len().saturating_mul(chars.map_or(1, |chars| chars.len().max(1))))?;
    let is_cut = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    let text = if at_start { text.trim_start_matches(is_cut) } else { text };
    Ok(if at_end { text.trim_end_matches(is_cut) } else { text })
}

/// What Python's `str.isspace` takes for white space.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// The text with `new` for each `old`, at most `count` times.
pub fn replaced(text: &str, old: &str, new: &str, count: Option<i64>, budget: &Budget) -> Result<Value> {
    budget.spend(text.len() + old.len())?;
    let count = count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
    let found = text.matches(old).take(count).count();
    budget.spend(text.len().saturating_add(found.saturating_mul(new.len())))?;
    Ok(Value::text(text.replacen(old, new, found)))
}

/// The items as text, with `separator` between them.
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

/// The parts between separators, or between runs of white space; after `most` cuts the rest is one.
pub fn split(text: &str, separator: Option<&str>, most: Option<i64>, from_end: bool, budget: &Budget) -> Result<Value> {
    budget.spend(2 * text.len())?;
    let most = most.and_then(|most| usize::try_from(most).ok()).map_or(usize::MAX, |most| most.saturating_add(1));
    let mut parts: Vec<&str> = match (separator, from_end) {
        (Some(""), _) => return refused("it splits a text at nothing"),
        (Some(separator), false) => text.splitn(most, separator).collect(),
        (Some(separator), true) => text.rsplitn(most, separator).collect(),
        (None, false) => words(text, most),
        (None, true) => return refused("it splits a text at white space from its end"),
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

/// The lines, with their ends where these are kept.
pub fn lines(text: &str, keeps_ends: bool, budget: &Budget) -> Result<Value> {
    budget.spend(2 * text.len())?;
    let lines = text.split_inclusive('\n');
    let without_end = |line: &'_ str| line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line)).len();
    texts(lines.map(|line| if keeps_ends { line } else { &line[..without_end(line)] }).collect(), budget)
}

/// A list of texts.
pub fn texts(parts: Vec<&str>, budget: &Budget) -> Result<Value> {
    budget.spend(parts.iter().map(|part| part.len()).sum::<usize>() + parts.len() * size_of::<Value>())?;
    Value::list(parts.into_iter().map(Value::text).collect(), budget)
}

/// Each line but the first after `width` spaces; empty ones only where `blank`.
pub fn indented(text: &str, width: &str, first: bool, blank: bool, budget: &Budget) -> Result<Value> {
    let mut out = Output::new(budget);
    for (i, line) in text.split('\n').enumerate() {
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

/// `"%s has %d"` with the values in their places.
pub fn formatted_by_percent(format: &str, values: Vec<Value>, budget: &Budget) -> Result<Value> {
    let mut out = Output::new(budget);
    let mut values = values.into_iter();
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
            ('s', Some(value)) => write(&value, &mut out)?,
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

/// `"{} has {1}"` with the values in their places.
pub fn formatted_by_braces(format: &str, values: &[Value], budget: &Budget) -> Result<Value> {
    let mut out = Output::new(budget);
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
            if place.is_empty() { Some(next - 1) } else { place.parse().ok() }
        });
        match place.and_then(|place| values.get(place)) {
            Some(value) => write(value, &mut out)?,
            None => return refused("it formats a text in a way that is not supported"),
        }
    }
    out.push(rest)?;
    Ok(Value::text(out.into_text()))
}
