//! Writes values as text: Python's `str`, its `repr`, and JSON.

use super::budget::{Budget, Output};
use super::error::{Result, refused};
use super::value::{ListKind, Value};

/// Python's `str(value)`.
pub fn written(value: &Value, budget: &Budget) -> Result<String> {
    let mut out = Output::new(budget);
    write(value, &mut out)?;
    Ok(out.into_text())
}

/// Writes Python's `str(value)`. An undefined value writes nothing.
pub fn write(value: &Value, out: &mut Output<'_>) -> Result<()> {
    match value {
        Value::Undefined => Ok(()),
        Value::Text(text) | Value::Safe(text) => out.push(text),
        value => write_repr(value, out),
    }
}

fn write_repr(value: &Value, out: &mut Output<'_>) -> Result<()> {
    out.budget().spend(1)?;
    match value {
        Value::Undefined => out.push("Undefined"),
        Value::None => out.push("None"),
        Value::Bool(flag) => out.push(if *flag { "True" } else { "False" }),
        Value::Int(number) => out.push(&number.to_string()),
        Value::Float(number) => out.push(&float(*number)),
        Value::Text(text) => write_quoted(text, out),
        Value::List(list) if list.is_indexable() => {
            let [open, close] = match (list.kind, list.items.len()) {
                (ListKind::List, _) => ["[", "]"],
                (_, 1) => ["(", ",)"],
                _ => ["(", ")"],
            };
            write_between([open, ", ", close], &list.items, out, write_repr)
        }
        Value::Map(map) => write_between(["{", ", ", "}"], &map.entries, out, |(key, value), out| {
            write_repr(key, out)?;
            out.push(": ")?;
            write_repr(value, out)
        }),
        other => refused(format!("it writes a {}", other.kind())),
    }
}

/// Writes `[open, between, close]` around and between the items.
fn write_between<T>(
    [open, between, close]: [&str; 3],
    items: &[T],
    out: &mut Output<'_>,
    write: impl Fn(&T, &mut Output<'_>) -> Result<()>,
) -> Result<()> {
    out.push(open)?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(between)?;
        }
        write(item, out)?;
    }
    out.push(close)
}

/// Python's `repr` of a text: in double quotes if it contains single quotes only.
fn write_quoted(text: &str, out: &mut Output<'_>) -> Result<()> {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut buffer = [0; 4];
    out.push(quote.encode_utf8(&mut buffer))?;
    for c in text.chars() {
        match c {
            '\\' => out.push("\\\\")?,
            '\n' => out.push("\\n")?,
            '\r' => out.push("\\r")?,
            '\t' => out.push("\\t")?,
            c if c == quote => out.push(&format!("\\{c}"))?,
            c if c == ' ' || c.is_ascii_graphic() || is_printable(c) => out.push(c.encode_utf8(&mut buffer))?,
            c => out.push(&match u32::from(c) {
                code @ ..0x100 => format!("\\x{code:02x}"),
                code @ ..0x10000 => format!("\\u{code:04x}"),
                code => format!("\\U{code:08x}"),
            })?,
        }
    }
    out.push(quote.encode_utf8(&mut buffer))
}

/// Python's `str.isprintable`. Rust decides the same for a character that is not the first of a text.
fn is_printable(c: char) -> bool {
    String::from_iter(['a', c]).escape_debug().nth(1) == Some(c)
}

/// Python's `repr` of a float.
pub fn float(number: f64) -> String {
    let written = format!("{number:?}").to_lowercase();
    let Some((mantissa, exponent)) = written.split_once('e') else { return written };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// Format of JSON.
#[derive(Clone, Default)]
pub struct JsonStyle {
    /// Indentation of each level. `None` writes everything on one line.
    pub indent: Option<String>,
    pub sort_keys: bool,
    pub escapes_unicode: bool,
    /// Separators between items, and between key and value.
    pub separators: Option<[String; 2]>,
}

/// Python's `json.dumps(value, ensure_ascii=False)` in this style.
pub fn json(value: &Value, style: &JsonStyle, budget: &Budget) -> Result<String> {
    let mut out = Output::new(budget);
    write_json(value, style, 0, &mut out)?;
    Ok(out.into_text())
}

fn write_json(value: &Value, style: &JsonStyle, level: usize, out: &mut Output<'_>) -> Result<()> {
    out.budget().spend(1)?;
    match value {
        Value::None => out.push("null"),
        Value::Bool(flag) => out.push(if *flag { "true" } else { "false" }),
        Value::Int(number) => out.push(&number.to_string()),
        Value::Float(number) => out.push(&json_float(*number)),
        Value::Text(text) => write_json_text(text, style, out),
        Value::List(list) if list.is_indexable() => {
            write_json_items(["[", "]"], &list.items, style, level, out, |item, out| write_json(item, style, level + 1, out))
        }
        Value::Map(map) => {
            let mut entries: Vec<(String, &Value)> = Vec::with_capacity(map.entries.len());
            for (key, value) in &map.entries {
                entries.push((json_key(key, out.budget())?, value));
            }
            if style.sort_keys {
                out.budget().spend(entries.iter().map(|(key, _)| key.len() * (entries.len().ilog2() as usize + 1)).sum())?;
                entries.sort_by(|a, b| a.0.cmp(&b.0));
            }
            write_json_items(["{", "}"], &entries, style, level, out, |(key, value), out| {
                write_json_text(key, style, out)?;
                out.push(style.separators.as_ref().map_or(": ", |separators| &separators[1]))?;
                write_json(value, style, level + 1, out)
            })
        }
        other => refused(format!("it writes a {} as JSON", other.kind())),
    }
}

fn write_json_items<T>(
    [open, close]: [&str; 2],
    items: &[T],
    style: &JsonStyle,
    level: usize,
    out: &mut Output<'_>,
    write: impl Fn(&T, &mut Output<'_>) -> Result<()>,
) -> Result<()> {
    let own = style.separators.as_ref().map(|separators| separators[0].as_str());
    let line = |level: usize| style.indent.as_ref().map(|indent| format!("\n{}", indent.repeat(level)));
    match (line(level), line(level + 1)) {
        (Some(outer), Some(inner)) if !items.is_empty() => {
            let between = format!("{}{inner}", own.unwrap_or(","));
            write_between([&format!("{open}{inner}"), &between, &format!("{outer}{close}")], items, out, write)
        }
        _ => write_between([open, own.unwrap_or(", "), close], items, out, write),
    }
}

fn write_json_text(text: &str, style: &JsonStyle, out: &mut Output<'_>) -> Result<()> {
    out.budget().spend(text.len())?;
    let quoted = serde_json::Value::from(text).to_string();
    if !style.escapes_unicode {
        return out.push(&quoted);
    }
    for c in quoted.chars() {
        match c.is_ascii() {
            true => out.push(c.encode_utf8(&mut [0; 4]))?,
            false => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| out.push(&format!("\\u{unit:04x}")))?,
        }
    }
    Ok(())
}

fn json_key(key: &Value, budget: &Budget) -> Result<String> {
    match key {
        Value::Text(text) => {
            budget.spend(text.len())?;
            Ok(text.to_string())
        }
        Value::None => Ok("null".into()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Int(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(json_float(*number)),
        other => refused(format!("it writes a {} as a key of JSON", other.kind())),
    }
}

fn json_float(number: f64) -> String {
    match number {
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        number if number.is_nan() => "NaN".into(),
        number => float(number),
    }
}
