//! Tests, which follow `is`.

use std::cmp::Ordering;
use std::rc::Rc;

use super::arguments::Arguments;
use super::budget::Budget;
use super::compare::{equals, order};
use super::error::{Result, refused};
use super::operators::{contains, remainder};
use super::value::Value;
use super::write::written;

/// Whether `value is name(arguments)`.
pub fn test(name: &str, value: &Value, mut arguments: Arguments, budget: &Budget) -> Result<bool> {
    let holds = match name {
        "defined" => !value.is_undefined(),
        "undefined" => value.is_undefined(),
        "none" => matches!(value, Value::None),
        "boolean" => matches!(value, Value::Bool(_)),
        "true" => matches!(value, Value::Bool(true)),
        "false" => matches!(value, Value::Bool(false)),
        "integer" => matches!(value, Value::Int(_)),
        "float" => matches!(value, Value::Float(_)),
        "number" => matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_)),
        "string" => matches!(value, Value::Text(_)),
        "mapping" => matches!(value, Value::Map(_)),
        "sequence" | "iterable" => match value {
            Value::List(list) => name == "iterable" || list.is_indexable(),
            _ => matches!(value, Value::Text(_) | Value::Map(_) | Value::Undefined),
        },
        "callable" => matches!(value, Value::Macro(..) | Value::Function(_) | Value::Undefined),
        "odd" => equals(&remainder(value, &Value::Int(2))?, &Value::Int(1), budget)?,
        "even" => equals(&remainder(value, &Value::Int(2))?, &Value::Int(0), budget)?,
        "divisibleby" => equals(&remainder(value, &arguments.required(0, "num")?)?, &Value::Int(0), budget)?,
        "lower" => is_in_case(value, budget, char::is_uppercase)?,
        "upper" => is_in_case(value, budget, char::is_lowercase)?,
        "in" => contains(&arguments.required(0, "seq")?, value, budget)?,
        "sameas" => {
            let other = arguments.required(0, "other")?;
            match (value, &other) {
                (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
                (Value::Map(a), Value::Map(b)) => Rc::ptr_eq(a, b),
                _ => std::mem::discriminant(value) == std::mem::discriminant(&other) && equals(value, &other, budget)?,
            }
        }
        "eq" | "equalto" | "==" => equals(value, &arguments.required(0, "other")?, budget)?,
        "ne" | "!=" => !equals(value, &arguments.required(0, "other")?, budget)?,
        "lt" | "lessthan" | "<" => is_ordered(value, &mut arguments, budget, Ordering::is_lt)?,
        "le" | "<=" => is_ordered(value, &mut arguments, budget, Ordering::is_le)?,
        "gt" | "greaterthan" | ">" => is_ordered(value, &mut arguments, budget, Ordering::is_gt)?,
        "ge" | ">=" => is_ordered(value, &mut arguments, budget, Ordering::is_ge)?,
        _ => return refused(format!("it has an unknown test: {name}")),
    };
    arguments.end()?;
    Ok(holds)
}

/// Whether `holds` is true for the order of the value and the argument. False if one of them is NaN.
fn is_ordered(value: &Value, arguments: &mut Arguments, budget: &Budget, holds: fn(Ordering) -> bool) -> Result<bool> {
    Ok(order(value, &arguments.required(0, "other")?, budget)?.is_some_and(holds))
}

/// Whether a text has letters, and no letter of the other case.
fn is_in_case(value: &Value, budget: &Budget, is_other: fn(char) -> bool) -> Result<bool> {
    let text = written(value, budget)?;
    let mut cased = text.chars().filter(|c| c.is_uppercase() || c.is_lowercase()).peekable();
    Ok(cased.peek().is_some() && !cased.any(is_other))
}
