//! Filters, which follow `|`.

use super::arguments::Arguments;
use super::attributes::{at_path, member};
use super::budget::Budget;
use super::compare::float;
use super::error::{Result, refused};
use super::lists;
use super::methods::{is_method, pairs};
use super::numbers::{read_float, read_int};
use super::operators::int;
use super::texts;
use super::value::{Value, count};
use super::write::{JsonStyle, json, written};

/// Maximum indent of JSON.
const MAX_INDENT: usize = 16;

/// Applies a filter: `value | name(arguments)`.
pub fn apply(name: &str, value: &Value, mut arguments: Arguments, budget: &Budget) -> Result<Value> {
    let plain = value.clone().plain();
    let result = match of_any(name, value, &mut arguments, budget)? {
        None => of_text_or_list(name, &plain, &mut arguments, budget)?,
        result => result,
    };
    arguments.end()?;
    result.map_or_else(|| refused(format!("it has an unknown filter: {name}")), Ok)
}

fn of_any(name: &str, value: &Value, arguments: &mut Arguments, budget: &Budget) -> Result<Option<Value>> {
    Ok(Some(match name {
        "default" | "d" => {
            let default = arguments.take(0, "default_value").unwrap_or_else(|| Value::text(""));
            let counts_as_none = if arguments.flag(1, "boolean") { !value.is_true() } else { value.is_undefined() };
            if counts_as_none { default } else { value.clone() }
        }
        "safe" => Value::Safe(written(value, budget)?.into()),
        "string" => Value::text(written(value, budget)?),
        "escape" | "e" => texts::escaped(value, budget)?,
        "forceescape" => texts::escaped(&value.clone().plain(), budget)?,
        "length" | "count" => {
            budget.spend(if let Value::Text(text) = value { text.len() } else { 0 })?;
            match value.length() {
                Some(length) => Value::Int(length as i64),
                None => return refused(format!("it asks for the length of a {}", value.kind())),
            }
        }
        "tojson" => to_json(value, arguments, budget)?,
        "int" => to_int(value, arguments, budget)?,
        "float" => {
            let default = arguments.take(0, "default").unwrap_or(Value::Float(0.0));
            let number = match value {
                Value::Undefined => return refused("it uses an undefined value as a number"),
                Value::Text(text) | Value::Safe(text) => read_float(text, budget)?,
                value => float(value),
            };
            number.map_or(default, Value::Float)
        }
        "abs" => match value {
            Value::Float(number) => Value::Float(number.abs()),
            value => int(value.as_int()?.checked_abs())?,
        },
        "round" => rounded(value, arguments)?,
        "attr" => match (value, arguments.required(0, "name")?) {
            (Value::Map(_), name) if !is_method(value, name.as_text()?) => Value::Undefined,
            (value, name) => member(value, name.as_text()?, budget)?,
        },
        "map" => mapped(&lists::items_if_any(value, budget)?, arguments, budget)?,
        "items" => match value {
            Value::Map(map) => Value::generator(pairs(&map.entries, budget)?, budget)?,
            Value::Undefined => Value::generator(Vec::new(), budget)?,
            other => return refused(format!("it asks for the items of a {}", other.kind())),
        },
        _ => return Ok(None),
    }))
}

fn of_text_or_list(name: &str, value: &Value, arguments: &mut Arguments, budget: &Budget) -> Result<Option<Value>> {
    const OF_TEXT: &str = "trim upper lower title capitalize replace indent format center wordcount truncate";
    if !OF_TEXT.split(' ').any(|known| known == name) {
        return lists::filter(name, value, arguments, budget);
    }
    let text = written(value, budget)?;
    Ok(Some(match name {
        "trim" => {
            let chars = arguments.given(0, "chars");
            Value::text(texts::trimmed(&text, chars.as_ref().map(Value::as_text).transpose()?, [true, true], budget)?)
        }
        "upper" => texts::upper(&text, budget)?,
        "lower" => texts::lower(&text, budget)?,
        "title" => texts::title(&text, texts::is_before_title, budget)?,
        "capitalize" => texts::capitalize(&text, budget)?,
        "replace" => {
            let (old, new) = (written(&arguments.required(0, "old")?, budget)?, written(&arguments.required(1, "new")?, budget)?);
            texts::replaced(&text, &old, &new, arguments.int(2, "count")?, budget)?
        }
        "indent" => {
            let width = match arguments.take(0, "width").unwrap_or(Value::Int(4)) {
                Value::Text(width) => width,
                width => {
                    let width = width.as_count()?;
                    budget.spend(width)?;
                    " ".repeat(width).into()
                }
            };
            let (first, blank) = (arguments.flag(1, "first"), arguments.flag(2, "blank"));
            texts::indented(&text, &width, first, blank, budget)?
        }
        "center" => texts::padded(&text, count(arguments.int(0, "width")?.unwrap_or(80)), " ", name, budget)?,
        "wordcount" => Value::Int(texts::n_words(&text, budget)? as i64),
        "truncate" => {
            let (length, kills_words) = (arguments.int(0, "length")?.unwrap_or(255), arguments.flag(1, "killwords"));
            let end = arguments.take(2, "end").unwrap_or_else(|| Value::text("..."));
            let leeway = arguments.int(3, "leeway")?.unwrap_or(5);
            texts::truncated(&text, [length, leeway], kills_words, end.as_text()?, budget)?
        }
        _ => texts::formatted_by_percent(&text, &arguments.rest(), budget)?,
    }))
}

/// Maps each item to an attribute, or to the result of a filter.
fn mapped(items: &[Value], arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    if let Some(path) = arguments.take(usize::MAX, "attribute") {
        let default = arguments.take(usize::MAX, "default");
        let value = |item: &Value| {
            let value = at_path(item, &path, budget)?;
            Ok(default.clone().filter(|_| value.is_undefined()).unwrap_or(value))
        };
        return Value::generator(items.iter().map(value).collect::<Result<_>>()?, budget);
    }
    let mut rest = arguments.rest().into_iter();
    let Some(name) = rest.next() else { return refused("its map has no filter") };
    let (positional, named) = (rest.collect::<Vec<_>>(), arguments.named());
    budget.enter()?;
    let value = |item: &Value| apply(name.as_text()?, item, Arguments::new(positional.clone(), named.clone()), budget);
    let mapped = items.iter().map(value).collect::<Result<_>>()?;
    budget.leave();
    Value::generator(mapped, budget)
}

/// Writes JSON as Hugging Face transformers does in templates.
fn to_json(value: &Value, arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let escapes_unicode = arguments.flag(0, "ensure_ascii");
    let indent = match arguments.given(1, "indent") {
        Some(Value::Text(indent)) => Some(indent.to_string()),
        Some(indent) => Some(" ".repeat(indent.as_count()?.min(MAX_INDENT + 1))),
        None => None,
    };
    if indent.as_ref().is_some_and(|indent| indent.len() > MAX_INDENT) {
        return refused("an indent of tojson is too large");
    }
    let separators = match arguments.take(2, "separators") {
        Some(Value::List(list)) if list.items.len() == 2 => Some([written(&list.items[0], budget)?, written(&list.items[1], budget)?]),
        Some(Value::None) | None => None,
        Some(_) => return refused("the separators of tojson are not two"),
    };
    let style = JsonStyle { indent, sort_keys: arguments.flag(3, "sort_keys"), escapes_unicode, separators };
    Ok(Value::text(json(value, &style, budget)?))
}

fn to_int(value: &Value, arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let default = arguments.take(0, "default").unwrap_or(Value::Int(0));
    let base = arguments.int(1, "base")?.unwrap_or(10);
    Ok(match value {
        Value::Float(number) => whole(*number, default)?,
        Value::Text(text) | Value::Safe(text) => match read_int(text, base, budget)? {
            Some(number) => number,
            None => whole(read_float(text, budget)?.filter(|number| number.is_finite()).unwrap_or(f64::NAN), default)?,
        },
        Value::Undefined => return refused("it uses an undefined value as a whole number"),
        value => value.as_int().map_or(default, Value::Int),
    })
}

/// The number without its fractional part, or the default for NaN. Errors if it does not fit.
fn whole(number: f64, default: Value) -> Result<Value> {
    if number.is_nan() { Ok(default) } else { int((number.abs() < i64::MAX as f64).then_some(number as i64)) }
}

fn rounded(value: &Value, arguments: &mut Arguments) -> Result<Value> {
    let (precision, method) = (arguments.int(0, "precision")?.unwrap_or(0), arguments.take(1, "method"));
    let method = method.as_ref().map_or(Ok("common"), Value::as_text)?;
    if let (Ok(number), 0.., "common") = (value.as_int(), precision, method) {
        return Ok(Value::Int(number));
    }
    let Some(number) = float(value) else { return refused(format!("it rounds a {}", value.kind())) };
    if !(0..=15).contains(&precision) {
        return refused("it rounds to a precision that is not supported");
    }
    let scale = 10_f64.powi(precision as i32);
    let rounded = match method {
        // Python rounds by the decimal digits of the number.
        "common" => format!("{number:.0$}", precision as usize).parse().unwrap_or(number),
        // Python rounds to an integer, which has no negative zero.
        "ceil" => ((number * scale).ceil() + 0.0) / scale,
        "floor" => ((number * scale).floor() + 0.0) / scale,
        _ => return refused("it rounds by a method that is not supported"),
    };
    Ok(Value::Float(rounded))
}
