//! The methods of Python's texts, lists and maps that change nothing.

use super::arguments::Arguments;
use super::budget::Budget;
use super::compare::{equals, get};
use super::error::{Result, refused};
use super::texts;
use super::value::{Loop, Value};

/// `value.name(arguments)`.
pub fn call(value: &Value, name: &str, mut arguments: Arguments, budget: &Budget) -> Result<Value> {
    let result = match value {
        Value::Text(text) => of_text(text, name, &mut arguments, budget)?,
        Value::Map(map) => of_map(&map.entries, name, &mut arguments, budget)?,
        Value::List(list) => of_list(&list.items, name, &mut arguments, budget)?,
        Value::Loop(state) => of_loop(state, name, &mut arguments, budget)?,
        _ => None,
    };
    arguments.end()?;
    result.map_or_else(|| refused(format!("a {} has no method {name} here", value.kind())), Ok)
}

fn of_text(text: &str, name: &str, arguments: &mut Arguments, budget: &Budget) -> Result<Option<Value>> {
    let is_all = |is: fn(char) -> bool| -> Result<Value> {
        budget.spend(text.len())?;
        Ok(Value::Bool(!text.is_empty() && text.chars().all(is)))
    };
    let mut trim = |ends| {
        let chars = arguments.given(0, "chars");
        let chars = chars.as_ref().map(Value::as_text).transpose()?;
        texts::trimmed(text, chars, ends, budget).map(Value::text)
    };
    Ok(Some(match name {
        "strip" => trim([true, true])?,
        "lstrip" => trim([true, false])?,
        "rstrip" => trim([false, true])?,
        "upper" => texts::upper(text, budget)?,
        "lower" => texts::lower(text, budget)?,
        "capitalize" => texts::capitalize(text, budget)?,
        "title" => texts::title(text, |c| !c.is_alphabetic(), budget)?,
        "split" | "rsplit" => {
            let separator = arguments.given(0, "sep");
            let separator = separator.as_ref().map(Value::as_text).transpose()?;
            texts::split(text, separator, arguments.int(1, "maxsplit")?, name == "rsplit", budget)?
        }
        "splitlines" => texts::lines(text, arguments.flag(0, "keepends"), budget)?,
        "replace" => {
            let (old, new) = (arguments.need(0, "old")?, arguments.need(1, "new")?);
            texts::replaced(text, old.as_text()?, new.as_text()?, arguments.int(2, "count")?, budget)?
        }
        "join" => texts::joined(&arguments.need(0, "items")?.items(budget)?, text, budget)?,
        "format" => texts::formatted_by_braces(text, &arguments.rest(), budget)?,
        "startswith" => Value::Bool(has_one(arguments, budget, |part| text.starts_with(part))?),
        "endswith" => Value::Bool(has_one(arguments, budget, |part| text.ends_with(part))?),
        "removeprefix" => Value::text(text.strip_prefix(arguments.need(0, "prefix")?.as_text()?).unwrap_or(text)),
        "removesuffix" => Value::text(text.strip_suffix(arguments.need(0, "suffix")?.as_text()?).unwrap_or(text)),
        "find" | "rfind" | "index" | "count" => searched(text, name, arguments, budget)?,
        "isdigit" | "isnumeric" => is_all(char::is_numeric)?,
        "isalpha" => is_all(char::is_alphabetic)?,
        "isalnum" => is_all(char::is_alphanumeric)?,
        "isspace" => is_all(texts::is_space)?,
        "isascii" => Value::Bool(text.is_ascii()),
        "islower" => Value::Bool(super::predicates::test("lower", &Value::text(text), Arguments::default(), budget)?),
        "isupper" => Value::Bool(super::predicates::test("upper", &Value::text(text), Arguments::default(), budget)?),
        _ => return Ok(None),
    }))
}

/// Where or how often a text is in another one, in characters.
fn searched(text: &str, name: &str, arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let part = arguments.need(0, "sub")?;
    let part = part.as_text()?;
    budget.spend(2 * text.len() + part.len())?;
    if name == "count" {
        return Ok(Value::Int(text.matches(part).count() as i64));
    }
    let found = if name == "rfind" { text.rfind(part) } else { text.find(part) };
    match found {
        Some(byte) => Ok(Value::Int(text[..byte].chars().count() as i64)),
        None if name == "index" => refused("it looks for the place of a text that is not there"),
        None => Ok(Value::Int(-1)),
    }
}

/// Whether this holds for the text given, or for one of several.
fn has_one(arguments: &mut Arguments, budget: &Budget, holds: impl Fn(&str) -> bool) -> Result<bool> {
    let parts = match arguments.need(0, "prefix")? {
        Value::List(list) => list.items.clone(),
        part => vec![part],
    };
    for part in &parts {
        budget.spend(part.as_text()?.len() + 1)?;
        if holds(part.as_text()?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn of_map(entries: &[(Value, Value)], name: &str, arguments: &mut Arguments, budget: &Budget) -> Result<Option<Value>> {
    budget.spend(entries.len() * 2 * size_of::<Value>())?;
    Ok(Some(match name {
        "get" => {
            let key = arguments.need(0, "key")?;
            let default = arguments.take(1, "default").unwrap_or(Value::None);
            get(entries, &key, budget)?.unwrap_or(default)
        }
        "keys" => Value::list(entries.iter().map(|(key, _)| key.clone()).collect(), budget)?,
        "values" => Value::list(entries.iter().map(|(_, value)| value.clone()).collect(), budget)?,
        "items" => pairs(entries, budget)?,
        _ => return Ok(None),
    }))
}

/// Keys and values.
pub fn pairs(entries: &[(Value, Value)], budget: &Budget) -> Result<Value> {
    let pair = |(key, value): &(Value, Value)| Value::tuple(vec![key.clone(), value.clone()], budget);
    Value::list(entries.iter().map(pair).collect::<Result<_>>()?, budget)
}

fn of_list(items: &[Value], name: &str, arguments: &mut Arguments, budget: &Budget) -> Result<Option<Value>> {
    if !matches!(name, "count" | "index") {
        return Ok(None);
    }
    let wanted = arguments.need(0, "value")?;
    let mut places = Vec::new();
    for (i, item) in items.iter().enumerate() {
        if equals(item, &wanted, budget)? {
            places.push(i);
        }
    }
    match (name, places.first()) {
        ("count", _) => Ok(Some(Value::Int(places.len() as i64))),
        (_, Some(&first)) => Ok(Some(Value::Int(first as i64))),
        _ => refused("it looks for the place of a value that is not there"),
    }
}

fn of_loop(state: &Loop, name: &str, arguments: &mut Arguments, budget: &Budget) -> Result<Option<Value>> {
    Ok(Some(match name {
        "cycle" => {
            let values = arguments.rest();
            let Some(value) = state.index.get().checked_rem(values.len()).map(|at| values[at].clone()) else {
                return refused("its loop.cycle has no values");
            };
            value
        }
        "changed" => {
            let value = Value::list(arguments.rest(), budget)?;
            let last = state.last.borrow_mut().replace(value.clone());
            Value::Bool(match last {
                Some(last) => !equals(&last, &value, budget)?,
                None => true,
            })
        }
        _ => return Ok(None),
    }))
}
