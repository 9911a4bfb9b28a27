//! Arguments of a function, a filter, a test or a method.

use super::error::{Result, refused};
use super::value::Value;

/// Positional and named arguments, which the callee takes one by one.
#[derive(Default)]
pub struct Arguments {
    positional: Vec<Option<Value>>,
    named: Vec<(String, Value)>,
}

impl Arguments {
    pub fn new(positional: Vec<Value>, named: Vec<(String, Value)>) -> Self {
        Self { positional: positional.into_iter().map(Some).collect(), named }
    }

    /// Takes the argument at this position or with this name.
    pub fn take(&mut self, place: usize, name: &str) -> Option<Value> {
        if let Some(value) = self.positional.get_mut(place).and_then(Option::take) {
            return Some(value);
        }
        let at = self.named.iter().position(|(known, _)| known == name)?;
        Some(self.named.swap_remove(at).1)
    }

    /// Takes the argument. `None` if it is missing or has the value none.
    pub fn given(&mut self, place: usize, name: &str) -> Option<Value> {
        self.take(place, name).filter(|value| !matches!(value, Value::None))
    }

    /// Takes the argument. Errors if it is missing.
    pub fn required(&mut self, place: usize, name: &str) -> Result<Value> {
        self.take(place, name).map_or_else(|| refused(format!("a call in it lacks the argument {name}")), Ok)
    }

    /// Takes a flag, which is false if it is missing.
    pub fn flag(&mut self, place: usize, name: &str) -> bool {
        self.take(place, name).is_some_and(|value| value.is_true())
    }

    /// Takes a whole number. `None` if it is missing or has the value none.
    pub fn int(&mut self, place: usize, name: &str) -> Result<Option<i64>> {
        self.given(place, name).map(|value| value.as_int()).transpose()
    }

    /// Takes the remaining positional arguments.
    pub fn rest(&mut self) -> Vec<Value> {
        self.positional.drain(..).flatten().collect()
    }

    /// Takes the remaining named arguments.
    pub fn named(&mut self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.named)
    }

    /// Checks that all arguments were taken.
    pub fn end(self) -> Result<()> {
        if self.positional.iter().any(Option::is_some) || !self.named.is_empty() {
            return refused("a call in it has too many arguments");
        }
        Ok(())
    }
}
