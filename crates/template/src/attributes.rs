//! Access to attributes and items of values.

use super::budget::Budget;
use super::compare::get;
use super::error::{Result, refused};
use super::methods::is_method;
use super::operators::at;
use super::value::{Function, ListKind, Value};

/// The value of `value.name`. A method takes precedence over a key.
pub fn member(value: &Value, name: &str, budget: &Budget) -> Result<Value> {
    if is_method(value, name) { Ok(Value::Function(Function::Method)) } else { attribute(value, &Value::text(name), budget) }
}

/// The value of `value["name"]`, or undefined.
pub fn attribute(value: &Value, name: &Value, budget: &Budget) -> Result<Value> {
    let found = match (value, name) {
        (Value::Undefined, _) => return refused("it reads an attribute of an undefined value"),
        (Value::Map(map), key) => get(&map.entries, key, budget)?,
        (Value::Namespace(entries), key) => get(&entries.borrow(), key, budget)?,
        (Value::List(_) | Value::Text(_), Value::Int(index)) => Some(at(value, *index, budget)?),
        (Value::List(list), Value::Text(name)) if list.kind == ListKind::Group => {
            let place = ["grouper", "list"].iter().position(|known| **known == **name);
            place.and_then(|place| list.items.get(place).cloned())
        }
        (Value::Loop(state), Value::Text(name)) => state.attribute(name),
        (Value::Cycler(cycler), Value::Text(name)) if &**name == "current" && !cycler.is_joiner => cycler.current(),
        _ => None,
    };
    Ok(match (found, name) {
        (Some(found), _) => found,
        (None, Value::Text(name)) if is_method(value, name) => Value::Function(Function::Method),
        _ => Value::Undefined,
    })
}

/// The value at a path such as `function.name`. Numbers in the path are indices.
pub fn at_path(value: &Value, path: &Value, budget: &Budget) -> Result<Value> {
    let Value::Text(path) = path else { return attribute(value, path, budget) };
    budget.spend(2 * path.len())?;
    let mut value = value.clone();
    for name in path.split('.') {
        budget.spend_step()?;
        let name = name.parse().map_or_else(|_| Value::text(name), Value::Int);
        value = attribute(&value, &name, budget)?;
    }
    Ok(value)
}
