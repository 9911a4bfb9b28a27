//! Operators with the same results as in Python.

use super::budget::{Budget, Output};
use super::compare::{equals, float};
use super::error::{Result, refused};
use super::texts::escaped;
use super::value::Value;
use super::write::write;

/// `a + b`: numbers, texts, or lists.
pub fn add(a: &Value, b: &Value, budget: &Budget) -> Result<Value> {
    match (a, b) {
        (Value::Text(_), Value::Text(_)) => concat(a, b, budget),
        (Value::Text(_) | Value::Safe(_), Value::Text(_) | Value::Safe(_)) => {
            let sum = concat(&escaped(a, budget)?, &escaped(b, budget)?, budget)?;
            Ok(Value::Safe(sum.as_text()?.into()))
        }
        (Value::List(x), Value::List(y)) if x.kind == y.kind && x.is_indexable() => {
            budget.spend((x.items.len() + y.items.len()).saturating_mul(size_of::<Value>()))?;
            let items = x.items.iter().chain(&y.items).cloned().collect();
            Value::of_kind(x.kind, items, budget)
        }
        _ => arithmetic("+", a, b, i64::checked_add, |x, y| x + y),
    }
}

/// `a ~ b`: joins both as text.
pub fn concat(a: &Value, b: &Value, budget: &Budget) -> Result<Value> {
    let mut out = Output::new(budget);
    write(a, &mut out)?;
    write(b, &mut out)?;
    Ok(Value::text(out.into_text()))
}

pub fn subtract(a: &Value, b: &Value) -> Result<Value> {
    arithmetic("-", a, b, i64::checked_sub, |x, y| x - y)
}

/// `a * b`: multiplies numbers, or repeats a text or a list.
pub fn multiply(a: &Value, b: &Value, budget: &Budget) -> Result<Value> {
    match (a, b) {
        (Value::Text(text), times) | (times, Value::Text(text)) => {
            let times = times.as_count()?;
            budget.spend(text.len().saturating_mul(times))?;
            Ok(Value::text(text.repeat(times)))
        }
        (Value::List(list), times) | (times, Value::List(list)) if list.is_indexable() => {
            let times = if list.items.is_empty() { 0 } else { times.as_count()? };
            budget.spend(list.items.len().saturating_mul(times).saturating_mul(size_of::<Value>()))?;
            let items = std::iter::repeat_n(&list.items, times).flatten().cloned().collect();
            Value::of_kind(list.kind, items, budget)
        }
        _ => arithmetic("*", a, b, i64::checked_mul, |x, y| x * y),
    }
}

/// `a / b`, which is always a float.
pub fn divide(a: &Value, b: &Value) -> Result<Value> {
    match (float(a), float(b)) {
        (Some(_), Some(0.0)) => refused("it divides by zero"),
        (Some(a), Some(b)) => Ok(Value::Float(a / b)),
        _ => no_numbers("/", a, b),
    }
}

/// `a // b`, rounded down.
pub fn divide_down(a: &Value, b: &Value) -> Result<Value> {
    check_divisor(b)?;
    let of_ints = |x: i64, y: i64| Some(x.checked_div(y)? - i64::from(x.checked_rem(y)? != 0 && (x < 0) != (y < 0)));
    arithmetic("//", a, b, of_ints, |x, y| float_divmod(x, y).0)
}

/// `a % b`, with the sign of `b`.
pub fn remainder(a: &Value, b: &Value) -> Result<Value> {
    check_divisor(b)?;
    arithmetic("%", a, b, |x, y| Some(modulo(i128::from(x), i128::from(y)) as i64), |x, y| float_divmod(x, y).1)
}

/// `x // y` and `x % y`, rounded as by `float_divmod` in Python's C source. `y` must not be 0.
fn float_divmod(x: f64, y: f64) -> (f64, f64) {
    let mut rest = x % y;
    let mut quotient = (x - rest) / y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) {
        rest += y;
        quotient -= 1.0;
    }
    let down = quotient.floor();
    let whole = if quotient - down > 0.5 { down + 1.0 } else { down };
    let signed_zero = |sign: f64| 0.0_f64.copysign(sign);
    (if quotient == 0.0 { signed_zero(x / y) } else { whole }, if rest == 0.0 { signed_zero(y) } else { rest })
}

/// The remainder with the sign of `y`, which must not be 0.
fn modulo(x: i128, y: i128) -> i128 {
    ((x % y) + y) % y
}

fn check_divisor(value: &Value) -> Result<()> {
    if float(value) == Some(0.0) { refused("it divides by zero") } else { Ok(()) }
}

pub fn power(a: &Value, b: &Value) -> Result<Value> {
    match (a.as_int(), b.as_int()) {
        (Ok(base), Ok(exponent @ 0..)) => {
            let power = u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent));
            int(power)
        }
        _ => match (float(a), float(b)) {
            (Some(base), Some(exponent)) if base != 0.0 || exponent >= 0.0 => Ok(Value::Float(base.powf(exponent))),
            (Some(_), Some(_)) => refused("it divides by zero"),
            _ => no_numbers("**", a, b),
        },
    }
}

pub fn negative(value: &Value) -> Result<Value> {
    arithmetic("-", &Value::Int(0), value, i64::checked_sub, |_, x| -x)
}

fn arithmetic(
    name: &str,
    a: &Value,
    b: &Value,
    of_ints: impl Fn(i64, i64) -> Option<i64>,
    of_floats: impl Fn(f64, f64) -> f64,
) -> Result<Value> {
    if let (Ok(a), Ok(b)) = (a.as_int(), b.as_int()) {
        return int(of_ints(a, b));
    }
    match (float(a), float(b)) {
        (Some(a), Some(b)) => Ok(Value::Float(of_floats(a, b))),
        _ => no_numbers(name, a, b),
    }
}

/// A whole number. Errors if it is too large for an `i64`.
pub fn int(number: Option<i64>) -> Result<Value> {
    number.map(Value::Int).map_or_else(|| refused("a number of it is too large"), Ok)
}

fn no_numbers<T>(operator: &str, a: &Value, b: &Value) -> Result<T> {
    refused(format!("it uses {operator} on a {} and a {}", a.kind(), b.kind()))
}

/// `item in container`.
pub fn contains(container: &Value, item: &Value, budget: &Budget) -> Result<bool> {
    match (container, item) {
        (Value::Text(text), Value::Text(part)) => {
            budget.spend(text.len() + part.len())?;
            Ok(text.contains(&**part))
        }
        (Value::Undefined | Value::List(_) | Value::Map(_), item) => {
            for other in container.items(budget)? {
                if equals(&other, item, budget)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (other, item) => refused(format!("it looks for a {} in a {}", item.kind(), other.kind())),
    }
}

/// `value[index]` of a list or a text. Undefined if there is no such item.
pub fn at(value: &Value, index: i64, budget: &Budget) -> Result<Value> {
    let place = |length: usize| usize::try_from(if index < 0 { index.saturating_add(length as i64) } else { index }).ok();
    match value {
        Value::List(list) if list.is_indexable() => {
            Ok(place(list.items.len()).and_then(|at| list.items.get(at).cloned()).unwrap_or(Value::Undefined))
        }
        Value::Text(text) => {
            budget.spend(2 * text.len())?;
            let c = place(text.chars().count()).and_then(|at| text.chars().nth(at));
            Ok(c.map_or(Value::Undefined, |c| Value::text(c.encode_utf8(&mut [0; 4]))))
        }
        _ => Ok(Value::Undefined),
    }
}

/// `value[start:stop:step]` of a list or a text.
pub fn slice(value: &Value, [start, stop, step]: [Option<i64>; 3], budget: &Budget) -> Result<Value> {
    let step = step.unwrap_or(1);
    if step == 0 {
        return refused("a slice of it has the step 0");
    }
    let is_indexable = match value {
        Value::Undefined => return refused("it takes a slice of an undefined value"),
        Value::List(list) => list.is_indexable(),
        value => !matches!(value, Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_)),
    };
    if !is_indexable {
        return Ok(Value::Undefined);
    }
    let items = value.items(budget)?;
    let kept = places(items.len(), start, stop, step).map(|at| items[at].clone()).collect::<Vec<_>>();
    match value {
        Value::Text(_) => {
            let mut out = Output::new(budget);
            kept.iter().try_for_each(|c| write(c, &mut out))?;
            Ok(Value::text(out.into_text()))
        }
        Value::List(list) => Value::of_kind(list.kind, kept, budget),
        _ => Value::list(kept, budget),
    }
}

/// The indices that Python's `slice(start, stop, step).indices(length)` gives.
fn places(length: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> impl Iterator<Item = usize> {
    let length = length as i64;
    let (lowest, highest) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let bound = |index: i64| if index < 0 { index.saturating_add(length) } else { index }.clamp(lowest, highest);
    let first = start.map_or(if step > 0 { lowest } else { highest }, bound);
    let end = stop.map_or(if step > 0 { highest } else { lowest }, bound);
    let is_before_end = move |at: &i64| if step > 0 { *at < end } else { *at > end };
    std::iter::successors(Some(first), move |at| at.checked_add(step)).take_while(is_before_end).map(|at| at as usize)
}
