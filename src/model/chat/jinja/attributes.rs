//! What is in a value.

use super::budget::Budget;
use super::compare::get;
use super::error::{Result, refused};
use super::operators::at;
use super::value::Value;

/// What `value.name` or `value["name"]` is: undefined where there is none.
pub fn attribute(value: &Value, name: &Value, budget: &Budget) -> Result<Value> {
    let found = match (value, name) {
        (Value::Undefined, _) => return refused("it looks into an undefined value"),
        (Value::Map(map), key) => get(&map.entries, key, budget)?,
        (Value::Namespace(entries), key) => get(&entries.borrow(), key, budget)?,
        (Value::List(_) | Value::Text(_), Value::Int(index)) => Some(at(value, *index, budget)?),
        (Value::Loop(state), Value::Text(name)) => state.attribute(name),
        _ => None,
    };
    Ok(found.unwrap_or(Value::Undefined))
}

/// The value at a path such as `function.name`; of numbers, the item there.
pub fn at_path(value: &Value, path: &Value, budget: &Budget) -> Result<Value> {
    let Value::Text(path) = path else { return attribute(value, path, budget) };
    let mut value = value.clone();
    for name in path.split('.') {
        let name = name.parse().map_or_else(|_| Value::text(name), Value::Int);
        value = attribute(&value, &name, budget)?;
    }
    Ok(value)
}
