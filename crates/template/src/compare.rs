//! Equality and order of values.

use std::cmp::Ordering;

use super::budget::Budget;
use super::error::{Result, refused};
use super::value::Value;

/// Whether two values are equal, as in Python: `1 == 1.0 == True`. Generators, views, namespaces and loops only equal themselves.
pub fn equals(a: &Value, b: &Value, budget: &Budget) -> Result<bool> {
    budget.spend(1)?;
    Ok(match (a, b) {
        (Value::Undefined, Value::Undefined) | (Value::None, Value::None) => true,
        (Value::Text(a), Value::Text(b)) => a.len() == b.len() && texts(a, b, budget)?.is_eq(),
        (Value::List(a), Value::List(b)) if a.is_indexable() => {
            a.kind == b.kind && a.items.len() == b.items.len() && all_equal(&a.items, &b.items, budget)?
        }
        (Value::List(a), Value::List(b)) => std::rc::Rc::ptr_eq(a, b),
        (Value::Map(a), Value::Map(b)) => a.entries.len() == b.entries.len() && all_found(&a.entries, &b.entries, budget)?,
        (Value::Namespace(a), Value::Namespace(b)) => std::rc::Rc::ptr_eq(a, b),
        (Value::Loop(a), Value::Loop(b)) => std::rc::Rc::ptr_eq(a, b),
        (Value::Macro(a, _), Value::Macro(b, _)) => a == b,
        (Value::Function(a), Value::Function(b)) => a == b,
        _ => numbers(a, b).is_some_and(|order| order == Some(Ordering::Equal)),
    })
}

fn all_equal(a: &[Value], b: &[Value], budget: &Budget) -> Result<bool> {
    for (a, b) in a.iter().zip(b) {
        if !equals(a, b, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn all_found(a: &[(Value, Value)], b: &[(Value, Value)], budget: &Budget) -> Result<bool> {
    for (key, value) in a {
        match get(b, key, budget)? {
            Some(other) if equals(value, &other, budget)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The order of two values. `None` if one of them is NaN.
pub fn order(a: &Value, b: &Value, budget: &Budget) -> Result<Option<Ordering>> {
    budget.spend(1)?;
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => texts(a, b, budget).map(Some),
        (Value::List(a), Value::List(b)) if a.kind == b.kind && a.is_indexable() => {
            for (a, b) in a.items.iter().zip(&b.items) {
                if !equals(a, b, budget)? {
                    return order(a, b, budget);
                }
            }
            Ok(Some(a.items.len().cmp(&b.items.len())))
        }
        _ => match numbers(a, b) {
            Some(order) => Ok(order),
            None => refused(format!("it compares a {} with a {}", a.kind(), b.kind())),
        },
    }
}

fn texts(a: &str, b: &str, budget: &Budget) -> Result<Ordering> {
    budget.spend(a.len().min(b.len()))?;
    Ok(a.cmp(b))
}

/// The order of two numbers. The outer `None` means that one value is not a number, the inner one that a number is NaN.
fn numbers(a: &Value, b: &Value) -> Option<Option<Ordering>> {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => Some(a.partial_cmp(b)),
        (a, Value::Float(b)) => Some(order_of_mixed(a.as_int().ok()?, *b)),
        (Value::Float(a), b) => Some(order_of_mixed(b.as_int().ok()?, *a).map(Ordering::reverse)),
        (a, b) => Some(Some(a.as_int().ok()?.cmp(&b.as_int().ok()?))),
    }
}

/// The exact order. If rounding makes the integer equal to the float, the float is a whole number.
fn order_of_mixed(int: i64, float: f64) -> Option<Ordering> {
    Some((int as f64).partial_cmp(&float)?.then_with(|| i128::from(int).cmp(&(float as i128))))
}

/// A number as a float.
pub fn float(value: &Value) -> Option<f64> {
    match *value {
        Value::Float(number) => Some(number),
        Value::Int(number) => Some(number as f64),
        Value::Bool(flag) => Some(f64::from(u8::from(flag))),
        _ => None,
    }
}

/// The value of a key in `entries`.
pub fn get(entries: &[(Value, Value)], key: &Value, budget: &Budget) -> Result<Option<Value>> {
    Ok(position(entries, key, budget)?.map(|at| entries[at].1.clone()))
}

/// The index of a key in `entries`.
pub fn position(entries: &[(Value, Value)], key: &Value, budget: &Budget) -> Result<Option<usize>> {
    for (at, (known, _)) in entries.iter().enumerate() {
        if equals(known, key, budget)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
