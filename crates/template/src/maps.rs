//! Maps, and conversion of JSON to values.

use std::rc::Rc;

use super::budget::Budget;
use super::compare::position;
use super::error::Result;
use super::value::{Map, Value, depth_over};

impl Value {
    /// A map. If a key occurs several times, its last value counts, at the first position. Pays for its entries, and for comparing each
    /// key with those before it. Errors if the budget is too small, or if values nest more than 64 deep.
    pub fn map(pairs: Vec<(Self, Self)>, budget: &Budget) -> Result<Self> {
        let depth = depth_over(pairs.iter().flat_map(|(key, value)| [key, value]), budget)?;
        let mut entries = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            set(&mut entries, key, value, budget)?;
        }
        Ok(Self::Map(Rc::new(Map { entries, depth })))
    }

    /// Converts JSON to a value. Numbers that do not fit 64-bit integers become floats. Errors like [`Value::list`] and [`Value::map`].
    pub fn from_json(json: &serde_json::Value, budget: &Budget) -> Result<Self> {
        use serde_json::Value as Json;
        match json {
            Json::Null => Ok(Self::None),
            Json::Bool(flag) => Ok(Self::Bool(*flag)),
            Json::Number(number) => Ok(number.as_i64().map_or(Self::Float(number.as_f64().unwrap_or(f64::NAN)), Self::Int)),
            Json::String(text) => Ok(Self::text(text)),
            Json::Array(items) => Self::list(items.iter().map(|item| Self::from_json(item, budget)).collect::<Result<_>>()?, budget),
            Json::Object(pairs) => {
                let pair = |(key, value): (&String, &Json)| Ok((Self::text(key), Self::from_json(value, budget)?));
                Self::map(pairs.iter().map(pair).collect::<Result<_>>()?, budget)
            }
        }
    }
}

/// Sets the value of a key.
pub fn set(entries: &mut Vec<(Value, Value)>, key: Value, value: Value, budget: &Budget) -> Result<()> {
    match position(entries, &key, budget)? {
        Some(at) => entries[at].1 = value,
        None => entries.push((key, value)),
    }
    Ok(())
}
