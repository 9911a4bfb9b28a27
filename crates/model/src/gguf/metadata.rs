//! The key-value part of a GGUF header.

use std::collections::BTreeMap;

use glasscage_message::{Message, ToMessage, message};

/// A metadata value. Arrays of integers, floats or booleans become lists of `f64`.
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

impl Value {
    fn kind(&self) -> Message {
        match self {
            Self::I64(..0) => message!("a negative number"),
            Self::U64(_) | Self::I64(_) => message!("a whole number"),
            Self::F64(_) => message!("a decimal number"),
            Self::Bool(_) => message!("true or false"),
            Self::String(_) => message!("a text"),
            Self::Strings(_) => message!("a list of texts"),
            Self::Numbers(_) => message!("a list of numbers"),
        }
    }
}

/// Maximum number of characters of a text that is shown.
const LONGEST_SHOWN: usize = 200;

/// The key-value part of the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(BTreeMap<String, Value>);

/// A key whose value has the wrong type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, ToMessage)]
#[error("the header of this file is damaged: {key} is {found} instead of {expected}")]
pub struct WrongType {
    key: String,
    expected: Message,
    found: Message,
}

impl Metadata {
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub fn str(&self, key: &str) -> Result<Option<&str>, WrongType> {
        self.typed(key, message!("a text"), |value| if let Value::String(text) = value { Some(text.as_str()) } else { None })
    }

    /// A text to show, shortened to its beginning. Nothing depends on it, so a value of the wrong type counts as `None`.
    pub fn shown(&self, key: &str) -> Option<String> {
        let text = self.str(key).ok()??;
        let end = text.char_indices().nth(LONGEST_SHOWN).map_or(text.len(), |(end, _)| end);
        Some(text[..end].to_owned())
    }

    /// A whole number of any type.
    pub fn u64(&self, key: &str) -> Result<Option<u64>, WrongType> {
        self.typed(key, message!("a whole number"), |value| match *value {
            Value::U64(number) => Some(number),
            Value::I64(number) => number.try_into().ok(),
            _ => None,
        })
    }

    /// A number of any type.
    pub fn f64(&self, key: &str) -> Result<Option<f64>, WrongType> {
        self.typed(key, message!("a number"), |value| match *value {
            Value::U64(number) => Some(number as f64),
            Value::I64(number) => Some(number as f64),
            Value::F64(number) => Some(number),
            _ => None,
        })
    }

    pub fn bool(&self, key: &str) -> Result<Option<bool>, WrongType> {
        self.typed(key, message!("true or false"), |value| if let Value::Bool(flag) = *value { Some(flag) } else { None })
    }

    pub fn strings(&self, key: &str) -> Result<Option<&[String]>, WrongType> {
        self.typed(
            key,
            message!("a list of texts"),
            |value| if let Value::Strings(strings) = value { Some(strings.as_slice()) } else { None },
        )
    }

    pub fn numbers(&self, key: &str) -> Result<Option<&[f64]>, WrongType> {
        self.typed(
            key,
            message!("a list of numbers"),
            |value| if let Value::Numbers(numbers) = value { Some(numbers.as_slice()) } else { None },
        )
    }

    /// Converts the value with `of`. Errors if that returns `None`, so that a damaged key does not count as a missing key.
    fn typed<'a, T>(&'a self, key: &str, expected: Message, of: impl FnOnce(&'a Value) -> Option<T>) -> Result<Option<T>, WrongType> {
        let Some(value) = self.get(key) else { return Ok(None) };
        of(value).map(Some).ok_or_else(|| WrongType { key: key.to_owned(), expected, found: value.kind() })
    }

    /// Drops vocabulary and merges: tens of megabytes that are not needed once a tokenizer exists.
    pub fn forget_vocabulary(&mut self) {
        let is_array = |value: &Value| matches!(value, Value::Strings(_) | Value::Numbers(_));
        self.0.retain(|key, value| !key.starts_with("tokenizer.") || !is_array(value));
    }

    /// Replaces a value of the file.
    pub fn set(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }

    /// Adds a value of the file. Returns false if the key was present before.
    pub(super) fn add(&mut self, key: &str, value: Value) -> bool {
        self.0.insert(key.to_owned(), value).is_none()
    }
}

impl<K: Into<String>> FromIterator<(K, Value)> for Metadata {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(values: I) -> Self {
        Self(values.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_the_wrong_type_is_no_missing_key() {
        let metadata =
            Metadata::from_iter([("id", Value::I64(-1)), ("types", Value::Strings(vec!["3".into()])), ("epsilon", Value::Bool(true))]);
        let said = |error: WrongType| error.to_string();
        assert!(said(metadata.u64("id").unwrap_err()).contains("id is a negative number instead of a whole number"));
        assert!(said(metadata.numbers("types").unwrap_err()).contains("types is a list of texts instead of a list of numbers"));
        assert!(said(metadata.f64("epsilon").unwrap_err()).contains("epsilon is true or false instead of a number"));
        assert_eq!((metadata.f64("id"), metadata.u64("other")), (Ok(Some(-1.0)), Ok(None)));
    }

    #[test]
    fn a_name_of_any_length_is_shown_by_its_beginning() {
        let metadata = Metadata::from_iter([("name", Value::String("\u{e9}".repeat(1 << 20))), ("license", Value::Bool(true))]);
        assert_eq!((metadata.shown("name"), metadata.shown("license")), (Some("\u{e9}".repeat(200)), None));
    }
}
