//! Scopes of variables.

use std::collections::HashMap;

use super::value::Value;

/// Nested scopes: of loops and blocks, of macros, and of the whole template.
pub struct Scopes<'t> {
    scopes: Vec<Scope<'t>>,
}

struct Scope<'t> {
    variables: HashMap<&'t str, Value>,
    /// The next scope to search.
    outer: Option<usize>,
}

impl<'t> Scopes<'t> {
    pub fn new() -> Self {
        Self { scopes: vec![Scope { variables: HashMap::new(), outer: None }] }
    }

    /// The index of the innermost scope.
    pub fn current(&self) -> usize {
        self.scopes.len() - 1
    }

    /// Adds a scope inside the innermost one.
    pub fn push(&mut self) {
        self.push_in(self.current());
    }

    /// Adds a scope that sees `outer`. If `outer` has ended, the scope that took its place is used instead, or else the innermost one.
    pub fn push_in(&mut self, outer: usize) {
        let outer = outer.min(self.current());
        self.scopes.push(Scope { variables: HashMap::new(), outer: Some(outer) });
    }

    pub fn pop(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    /// Starts an iteration. Forgets the variables of the previous one.
    pub fn begin_iteration(&mut self) {
        self.innermost().variables.clear();
    }

    pub fn set(&mut self, name: &'t str, value: Value) {
        self.innermost().variables.insert(name, value);
    }

    pub fn get(&self, name: &str) -> Option<Value> {
        let mut scope = self.scopes.last();
        while let Some(Scope { variables, outer, .. }) = scope {
            if let Some(value) = variables.get(name) {
                return Some(value.clone());
            }
            scope = outer.and_then(|outer| self.scopes.get(outer));
        }
        None
    }

    fn innermost(&mut self) -> &mut Scope<'t> {
        self.scopes.last_mut().expect("the scope of the template never ends")
    }
}
