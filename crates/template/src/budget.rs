//! How much work a rendering may do.

use std::cell::Cell;

use super::error::{JinjaError, Result};

/// What one step costs; one byte written or read costs 1.
const STEP: usize = 32;
/// How deep steps nest: operators in operands, blocks in blocks, macros called by macros.
const MAX_DEPTH: usize = 200;

/// What is left of the work and the memory that a rendering may take. Whatever takes more of either than its own step spends it here
/// first, so that nothing is made that was not paid for.
pub struct Budget {
    left: Cell<usize>,
    depth: Cell<usize>,
}

impl Budget {
    /// For so many bytes, written or read.
    pub fn new(bytes: usize) -> Self {
        Self { left: Cell::new(bytes), depth: Cell::new(0) }
    }

    /// Pays for bytes, or for values of a list.
    pub fn spend(&self, bytes: usize) -> Result<()> {
        self.left.set(self.left.get().checked_sub(bytes).ok_or(JinjaError::TooMuchWork)?);
        Ok(())
    }

    /// Pays for a step within the steps that have not ended yet.
    pub fn enter(&self) -> Result<()> {
        self.spend(STEP)?;
        let depth = self.depth.get() + 1;
        if depth > MAX_DEPTH {
            return Err(JinjaError::TooDeep);
        }
        self.depth.set(depth);
        Ok(())
    }

    /// The step that was entered last ends.
    pub fn leave(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }
}

/// A text that is paid for as it grows.
pub struct Output<'b> {
    budget: &'b Budget,
    text: String,
}

impl<'b> Output<'b> {
    pub fn new(budget: &'b Budget) -> Self {
        Self { budget, text: String::new() }
    }

    pub fn push(&mut self, text: &str) -> Result<()> {
        self.budget.spend(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    pub fn budget(&self) -> &'b Budget {
        self.budget
    }

    pub fn into_text(self) -> String {
        self.text
    }
}
