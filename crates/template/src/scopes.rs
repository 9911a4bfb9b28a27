//! Which variables are seen where.

use std::collections::HashMap;

use super::value::Value;

/// Scopes inside of scopes: those of loops and blocks, of macros, of the whole template.
pub struct Scopes<'t> {
    scopes: Vec<Scope<'t>>,
}

struct Scope<'t> {
    variables: HashMap<&'t str, Value>,
    /// Where to look next.
    outer: Option<usize>,
}

impl<'t> Scopes<'t> {
    pub fn new() -> Self {
        Self { scopes: vec![Scope { variables: HashMap::new(), outer: None }] }
    }

    /// The number of the innermost scope.
    pub fn current(&self) -> usize {
        self.scopes.len() - 1
    }

    /// A scope in the innermost one.
    pub fn push(&mut self) {
        self.push_in(self.current());
    }

    /// A scope that sees this one, or what is there instead of one that has ended.
    pub fn push_in(&mut self, outer: usize) {
        let outer = outer.min(self.current());
        self.scopes.push(Scope { variables: HashMap::new(), outer: Some(outer) });
    }

    pub fn pop(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    /// Begins an iteration: what the one before has set is forgotten.
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
