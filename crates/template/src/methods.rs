//! Python's methods of texts, lists and maps, except those that change their object.

use super::arguments::Arguments;
use super::budget::Budget;
use super::compare::{equals, get};
use super::error::{Result, refused};
use super::numbers::{is_decimal, is_digit};
use super::texts;
use super::value::{Cycler, ListKind, Loop, Value};

/// Names of Python's methods that do not change their object: of texts, maps, and lists.
const METHODS: [&str; 3] = [
    "capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha isascii isdecimal isdigit \
     isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip maketrans partition removeprefix \
     removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper \
     zfill",
    "copy fromkeys get items keys values",
    "copy count index",
];

/// Whether a value has a method of this name.
pub fn is_method(value: &Value, name: &str) -> bool {
    let names = match value {
        Value::Text(_) => METHODS[0],
        Value::Map(_) => METHODS[1],
        Value::List(list) if list.is_indexable() => METHODS[2],
        _ => return false,
    };
    names.split(' ').any(|known| known == name)
}

/// Calls a method: `value.name(arguments)`.
pub fn call(value: &Value, name: &str, mut arguments: Arguments, budget: &Budget) -> Result<Value> {
    let result = match value {
        Value::Text(text) => of_text(text, name, &mut arguments, budget)?,
        Value::Map(_) | Value::List(_) if name == "copy" => Some(value.clone()),
        Value::Map(map) => of_map(&map.entries, name, &mut arguments, budget)?,
        Value::List(list) if list.is_indexable() => of_list(&list.items, name, &mut arguments, budget)?,
        Value::Loop(state) => of_loop(state, name, &mut arguments, budget)?,
        Value::Cycler(cycler) if !cycler.is_joiner => of_cycler(cycler, name)?,
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
        "casefold" => texts::folded(text, budget)?,
        "swapcase" => texts::swapped(text, budget)?,
        "center" | "ljust" | "rjust" | "zfill" => {
            let width = arguments.required(0, "width")?.as_count()?;
            let fill = if name == "zfill" { Some(Value::text("0")) } else { arguments.take(1, "fillchar") };
            texts::padded(text, width, fill.as_ref().map_or(Ok(" "), Value::as_text)?, name, budget)?
        }
        "partition" | "rpartition" => {
            let separator = arguments.required(0, "sep")?;
            texts::partitioned(text, separator.as_text()?, name == "rpartition", budget)?
        }
        "capitalize" => texts::capitalize(text, budget)?,
        "title" => texts::title(text, |c| !c.is_alphabetic(), budget)?,
        "split" | "rsplit" => {
            let separator = arguments.given(0, "sep");
            let separator = separator.as_ref().map(Value::as_text).transpose()?;
            texts::split(text, separator, arguments.int(1, "maxsplit")?, name == "rsplit", budget)?
        }
        "splitlines" => texts::lines(text, arguments.flag(0, "keepends"), budget)?,
        "replace" => {
            let (old, new) = (arguments.required(0, "old")?, arguments.required(1, "new")?);
            texts::replaced(text, old.as_text()?, new.as_text()?, arguments.int(2, "count")?, budget)?
        }
        "join" => {
            let items = arguments.required(0, "items")?.items(budget)?;
            items.iter().try_for_each(|item| item.as_text().map(|_| ()))?;
            texts::joined(&items, text, budget)?
        }
        "format" => texts::formatted_by_braces(text, &arguments.rest(), &arguments.named(), budget)?,
        "startswith" => Value::Bool(has_one(text, arguments, budget, |text, part| text.starts_with(part))?),
        "endswith" => Value::Bool(has_one(text, arguments, budget, |text, part| text.ends_with(part))?),
        "removeprefix" => {
            budget.spend(2 * text.len())?;
            Value::text(text.strip_prefix(arguments.required(0, "prefix")?.as_text()?).unwrap_or(text))
        }
        "removesuffix" => {
            budget.spend(2 * text.len())?;
            Value::text(text.strip_suffix(arguments.required(0, "suffix")?.as_text()?).unwrap_or(text))
        }
        "find" | "rfind" | "index" | "rindex" | "count" => searched(text, name, arguments, budget)?,
        "isdecimal" => is_all(is_decimal)?,
        "isdigit" => is_all(is_digit)?,
        "isnumeric" => is_all(char::is_numeric)?,
        "isalpha" => is_all(char::is_alphabetic)?,
        "isalnum" => is_all(char::is_alphanumeric)?,
        "isspace" => is_all(texts::is_space)?,
        "isascii" => {
            budget.spend(text.len())?;
            Value::Bool(text.is_ascii())
        }
        "islower" => Value::Bool(super::predicates::test("lower", &Value::text(text), Arguments::default(), budget)?),
        "isupper" => Value::Bool(super::predicates::test("upper", &Value::text(text), Arguments::default(), budget)?),
        _ => return Ok(None),
    }))
}

/// Position of a text in another one, in characters, or the number of occurrences.
fn searched(text: &str, name: &str, arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let part = arguments.required(0, "sub")?;
    let part = part.as_text()?;
    budget.spend(2 * text.len() + part.len())?;
    let range = texts::part(text, arguments, budget)?;
    if name == "count" {
        return Ok(Value::Int(range.map_or(0, |range| text[range].matches(part).count()) as i64));
    }
    let found = range.and_then(|range| {
        let (start, within) = (range.start, &text[range]);
        let found = if name.starts_with('r') { within.rfind(part) } else { within.find(part) };
        Some(start + found?)
    });
    match found {
        Some(byte) => Ok(Value::Int(text[..byte].chars().count() as i64)),
        None if name.ends_with("index") => refused("it looks for the place of a text that is not there"),
        None => Ok(Value::Int(-1)),
    }
}

/// Whether `holds` is true for the given text, or for one text of a tuple.
fn has_one(text: &str, arguments: &mut Arguments, budget: &Budget, holds: impl Fn(&str, &str) -> bool) -> Result<bool> {
    let part = arguments.required(0, "prefix")?;
    let parts = match &part {
        Value::List(list) if list.kind == ListKind::Tuple => &list.items,
        part => std::slice::from_ref(part),
    };
    let text = texts::part(text, arguments, budget)?.map(|range| &text[range]);
    for part in parts {
        let part = part.as_text()?;
        budget.spend(part.len() + 1)?;
        if text.is_some_and(|text| holds(text, part)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn of_map(entries: &[(Value, Value)], name: &str, arguments: &mut Arguments, budget: &Budget) -> Result<Option<Value>> {
    budget.spend(entries.len() * 2 * size_of::<Value>())?;
    Ok(Some(match name {
        "get" => {
            let key = arguments.required(0, "key")?;
            let default = arguments.take(1, "default").unwrap_or(Value::None);
            get(entries, &key, budget)?.unwrap_or(default)
        }
        "keys" => Value::of_kind(ListKind::View, entries.iter().map(|(key, _)| key.clone()).collect(), budget)?,
        "values" => Value::of_kind(ListKind::View, entries.iter().map(|(_, value)| value.clone()).collect(), budget)?,
        "items" => Value::of_kind(ListKind::View, pairs(entries, budget)?, budget)?,
        _ => return Ok(None),
    }))
}

/// Tuples of keys and values.
pub fn pairs(entries: &[(Value, Value)], budget: &Budget) -> Result<Vec<Value>> {
    entries.iter().map(|(key, value)| Value::tuple(vec![key.clone(), value.clone()], budget)).collect()
}

fn of_list(items: &[Value], name: &str, arguments: &mut Arguments, budget: &Budget) -> Result<Option<Value>> {
    if !matches!(name, "count" | "index") {
        return Ok(None);
    }
    let wanted = arguments.required(0, "value")?;
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

fn of_cycler(cycler: &Cycler, name: &str) -> Result<Option<Value>> {
    match (name, cycler.current()) {
        ("next", current @ Some(_)) => {
            cycler.at.set((cycler.at.get() + 1) % cycler.items.len());
            Ok(current)
        }
        ("reset", _) => {
            cycler.at.set(0);
            Ok(Some(Value::None))
        }
        _ => Ok(None),
    }
}
