//! The key-value part of a GGUF header.

use std::collections::BTreeMap;

/// A metadata value; all integers, floats and booleans of an array become `f64`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    U64(u64),
    I64(i64),
    F64(f64),
    Bool(bool),
    String(String),
    Strings(Vec<String>),
    Numbers(Vec<f64>),
}

/// The key-value part of the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(BTreeMap<String, Value>);

impl Metadata {
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub fn str(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number, whatever its type in the file.
    pub fn u64(&self, key: &str) -> Option<u64> {
        match *self.get(key)? {
            Value::U64(number) => Some(number),
            Value::I64(number) => number.try_into().ok(),
            _ => None,
        }
    }

    /// Any number.
    pub fn f64(&self, key: &str) -> Option<f64> {
        match *self.get(key)? {
            Value::U64(number) => Some(number as f64),
            Value::I64(number) => Some(number as f64),
            Value::F64(number) => Some(number),
            _ => None,
        }
    }

    pub fn bool(&self, key: &str) -> Option<bool> {
        match *self.get(key)? {
            Value::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    pub fn strings(&self, key: &str) -> Option<&[String]> {
        match self.get(key)? {
            Value::Strings(strings) => Some(strings),
            _ => None,
        }
    }

    pub fn numbers(&self, key: &str) -> Option<&[f64]> {
        match self.get(key)? {
            Value::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// Drops vocabulary and merges: tens of megabytes that are not needed once there is a tokenizer.
    pub fn forget_arrays(&mut self) {
        self.0.retain(|_, value| !matches!(value, Value::Strings(_) | Value::Numbers(_)));
    }

    /// Replaces what the file says.
    pub fn set(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }
}

impl<K: Into<String>> FromIterator<(K, Value)> for Metadata {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(values: I) -> Self {
        Self(values.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}
