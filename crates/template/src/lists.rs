//! Filters for lists.

use std::cmp::Ordering;

use super::arguments::Arguments;
use super::attributes::at_path;
use super::budget::Budget;
use super::compare::{equals, order};
use super::error::{Result, refused};
use super::operators::add;
use super::predicates::test;
use super::texts;
use super::value::{ListKind, Value};
use super::write::written;

/// Applies a filter for lists: `value | name(arguments)`. `None` if there is no such filter.
pub fn filter(name: &str, value: &Value, arguments: &mut Arguments, budget: &Budget) -> Result<Option<Value>> {
    let items = || value.items(budget);
    Ok(Some(match name {
        "list" => Value::list(items()?, budget)?,
        "first" => items()?.into_iter().next().unwrap_or(Value::Undefined),
        "last" if is_generator(value) => return refused("it takes the last item of a generator"),
        "last" => items()?.pop().unwrap_or(Value::Undefined),
        "reverse" => reversed(value, items()?, budget)?,
        "join" => {
            let separator = written(&arguments.take(0, "d").unwrap_or_else(|| Value::text("")), budget)?;
            let items = of_attribute(items()?, arguments.given(1, "attribute"), budget)?;
            texts::joined(&items, &separator, budget)?
        }
        "min" => extreme(items()?, Ordering::Less, arguments, budget)?,
        "max" => extreme(items()?, Ordering::Greater, arguments, budget)?,
        "sum" => {
            let items = of_attribute(items()?, arguments.given(0, "attribute"), budget)?;
            let start = arguments.take(1, "start").unwrap_or(Value::Int(0));
            items.iter().try_fold(start, |sum, item| add(&sum, item, budget))?
        }
        "sort" => {
            let is_reversed = arguments.flag(0, "reverse");
            let has_case = arguments.flag(1, "case_sensitive");
            let attribute = match arguments.given(2, "attribute") {
                // Several attributes, compared in order.
                Some(Value::Text(paths)) if has_several(&paths, budget)? => Some(texts::split(&paths, Some(","), None, false, budget)?),
                other => other,
            };
            sorted(items()?, &SortKey { attribute, has_case, default: None }, is_reversed, budget)?
        }
        "dictsort" => sorted_map(value, arguments, budget)?,
        "unique" => unique(items()?, arguments, budget)?,
        "select" => chosen(items_if_any(value, budget)?, false, true, arguments, budget)?,
        "reject" => chosen(items_if_any(value, budget)?, false, false, arguments, budget)?,
        "selectattr" => chosen(items_if_any(value, budget)?, true, true, arguments, budget)?,
        "rejectattr" => chosen(items_if_any(value, budget)?, true, false, arguments, budget)?,
        "groupby" => grouped(items()?, arguments, budget)?,
        "batch" => batched(items()?, arguments, budget)?,
        "slice" => sliced(&items()?, arguments, budget)?,
        _ => return Ok(None),
    }))
}

/// The items of a value. Empty if the value counts as false.
pub fn items_if_any(value: &Value, budget: &Budget) -> Result<Vec<Value>> {
    if value.is_true() { value.items(budget) } else { Ok(Vec::new()) }
}

fn reversed(value: &Value, mut items: Vec<Value>, budget: &Budget) -> Result<Value> {
    items.reverse();
    match value {
        Value::Text(_) => texts::joined(&items, "", budget),
        value if is_generator(value) => Value::list(items, budget),
        _ => Value::generator(items, budget),
    }
}

fn is_generator(value: &Value) -> bool {
    matches!(value, Value::List(list) if list.kind == ListKind::Generator)
}

/// The items, or their attributes if there is a path.
fn of_attribute(items: Vec<Value>, path: Option<Value>, budget: &Budget) -> Result<Vec<Value>> {
    match path {
        None => Ok(items),
        Some(path) => items.iter().map(|item| at_path(item, &path, budget)).collect(),
    }
}

/// How items are sorted.
struct SortKey {
    /// A path, or a list of paths.
    attribute: Option<Value>,
    has_case: bool,
    /// The value for items that lack the attribute.
    default: Option<Value>,
}

impl SortKey {
    fn of(&self, item: &Value, budget: &Budget) -> Result<Value> {
        let key = match &self.attribute {
            Some(Value::List(paths)) => {
                let part = |path| self.in_case(at_path(item, path, budget)?, budget);
                Value::list(paths.items.iter().map(part).collect::<Result<_>>()?, budget)?
            }
            Some(path) => at_path(item, path, budget)?,
            None => item.clone(),
        };
        let key = if key.is_undefined() { self.default.clone().unwrap_or(key) } else { key };
        self.in_case(key, budget)
    }

    fn in_case(&self, key: Value, budget: &Budget) -> Result<Value> {
        match &key {
            Value::Text(text) if !self.has_case => texts::lower(text, budget),
            _ => Ok(key),
        }
    }
}

/// Whether an argument lists several attributes. Pays for reading it.
fn has_several(paths: &str, budget: &Budget) -> Result<bool> {
    budget.spend(paths.len())?;
    Ok(paths.contains(','))
}

fn sorted(items: Vec<Value>, key: &SortKey, is_reversed: bool, budget: &Budget) -> Result<Value> {
    let sorted = sorted_with_keys(items, key, is_reversed, budget)?;
    Value::list(sorted.into_iter().map(|(_, item)| item).collect(), budget)
}

fn sorted_with_keys(items: Vec<Value>, key: &SortKey, is_reversed: bool, budget: &Budget) -> Result<Vec<(Value, Value)>> {
    let keyed = items.into_iter().map(|item| Ok((key.of(&item, budget)?, item))).collect::<Result<Vec<_>>>()?;
    let wanted = if is_reversed { Ordering::Greater } else { Ordering::Less };
    merge_sorted(keyed, &|(a, _), (b, _)| Ok(order(a, b, budget)? == Some(wanted)))
}

/// Stable merge sort. Rust's own sort may panic if the order is inconsistent, such as that of numbers and NaN, and it cannot stop early.
fn merge_sorted<T>(mut items: Vec<T>, is_before: &impl Fn(&T, &T) -> Result<bool>) -> Result<Vec<T>> {
    if items.len() < 2 {
        return Ok(items);
    }
    let right = items.split_off(items.len() / 2);
    let mut left = merge_sorted(items, is_before)?.into_iter().peekable();
    let mut right = merge_sorted(right, is_before)?.into_iter().peekable();
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if is_before(b, a)? { right.next() } else { left.next() };
        merged.extend(next);
    }
    merged.extend(left.chain(right));
    Ok(merged)
}

/// The items of a map, sorted by key or by value.
fn sorted_map(value: &Value, arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let has_case = arguments.flag(0, "case_sensitive");
    let by_value = match arguments.take(1, "by") {
        Some(by) => by.as_text()? == "value",
        None => false,
    };
    let is_reversed = arguments.flag(2, "reverse");
    let Value::Map(map) = value else { return refused(format!("it sorts a {} as a map", value.kind())) };
    let pairs = super::methods::pairs(&map.entries, budget)?;
    let key = SortKey { attribute: Some(Value::Int(i64::from(by_value))), has_case, default: None };
    sorted(pairs, &key, is_reversed, budget)
}

/// The minimum or maximum item.
fn extreme(items: Vec<Value>, wanted: Ordering, arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let key = SortKey { has_case: arguments.flag(0, "case_sensitive"), attribute: arguments.given(1, "attribute"), default: None };
    let mut best: Option<(Value, Value)> = None;
    for item in items {
        let own = key.of(&item, budget)?;
        let is_better = match &best {
            Some((best, _)) => order(&own, best, budget)? == Some(wanted),
            None => true,
        };
        if is_better {
            best = Some((own, item));
        }
    }
    Ok(best.map_or(Value::Undefined, |(_, item)| item))
}

fn unique(items: Vec<Value>, arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let key = SortKey { has_case: arguments.flag(0, "case_sensitive"), attribute: arguments.given(1, "attribute"), default: None };
    let mut seen: Vec<Value> = Vec::new();
    let mut kept = Vec::new();
    'items: for item in items {
        let own = key.of(&item, budget)?;
        for other in &seen {
            if equals(other, &own, budget)? {
                continue 'items;
            }
        }
        seen.push(own);
        kept.push(item);
    }
    Value::generator(kept, budget)
}

/// The items for which a test, of the item or of an attribute, has the result `wanted`.
fn chosen(items: Vec<Value>, by_attribute: bool, wanted: bool, arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let mut rest = arguments.rest().into_iter();
    let path =
        if by_attribute { Some(rest.next().map_or_else(|| refused("a call in it lacks the argument attribute"), Ok)?) } else { None };
    let name = rest.next();
    let others: Vec<Value> = rest.collect();
    let mut kept = Vec::new();
    for item in items {
        let value = path.as_ref().map_or_else(|| Ok(item.clone()), |path| at_path(&item, path, budget))?;
        let holds = match &name {
            None => value.is_true(),
            Some(name) => test(name.as_text()?, &value, Arguments::new(others.clone(), Vec::new()), budget)?,
        };
        if holds == wanted {
            kept.push(item);
        }
    }
    Value::generator(kept, budget)
}

/// Pairs of an attribute and the items that have it, sorted by the attribute. The attribute is that of the first item, in its own case.
fn grouped(items: Vec<Value>, arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let attribute = Some(arguments.required(0, "attribute")?).filter(|path| !matches!(path, Value::None));
    let (default, has_case) = (arguments.given(1, "default"), arguments.flag(2, "case_sensitive"));
    let key = SortKey { attribute, has_case, default };
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for (own, item) in sorted_with_keys(items, &key, false, budget)? {
        match groups.last_mut() {
            Some((last, group)) if equals(last, &own, budget)? => group.push(item),
            _ => groups.push((own, vec![item])),
        }
    }
    let grouper = SortKey { has_case: true, ..key };
    let pair = |(_, group): (Value, Vec<Value>)| {
        let own = grouper.of(&group[0], budget)?;
        Value::of_kind(ListKind::Group, vec![own, Value::list(group, budget)?], budget)
    };
    Value::list(groups.into_iter().map(pair).collect::<Result<_>>()?, budget)
}

/// Lists of `linecount` items each. The last list is filled up if there is a fill value.
fn batched(items: Vec<Value>, arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let (length, fill) = (arguments.required(0, "linecount")?.as_count()?, arguments.given(1, "fill_with"));
    if length == 0 {
        return refused("it makes batches of size 0");
    }
    let batch = |batch: &[Value]| {
        let missing = if fill.is_some() { length - batch.len() } else { 0 };
        budget.spend(missing.saturating_mul(size_of::<Value>()))?;
        let filled = batch.iter().chain(std::iter::repeat_n(&fill, missing).flatten());
        Value::list(filled.cloned().collect(), budget)
    };
    Value::generator(items.chunks(length).map(batch).collect::<Result<_>>()?, budget)
}

/// The given number of lists. If the items cannot be divided evenly, the first lists have one item more. As in Jinja2, a fill value is
/// added to all other lists, even if the items can be divided evenly.
fn sliced(items: &[Value], arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let (count, fill) = (arguments.required(0, "slices")?.as_count()?, arguments.given(1, "fill_with"));
    if count == 0 {
        return refused("it slices a list into no parts");
    }
    budget.spend(count.saturating_mul(size_of::<Value>()))?;
    let (length, longer) = (items.len() / count, items.len() % count);
    let start = |i: usize| i * length + i.min(longer);
    let slice = |i: usize| {
        let filling = fill.iter().filter(|_| i >= longer);
        Value::list(items[start(i)..start(i + 1)].iter().chain(filling).cloned().collect(), budget)
    };
    Value::generator((0..count).map(slice).collect::<Result<_>>()?, budget)
}
