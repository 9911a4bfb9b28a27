//! Limits the work of a rendering.

use std::cell::Cell;

use super::error::{JinjaError, Result};

/// Cost of one step. One byte written or read costs 1.
const STEP: usize = 32;
/// Maximum nesting of steps: operators in operands, blocks in blocks, macros called by macros.
const MAX_DEPTH: usize = 200;

/// The remaining work and memory of a rendering. Code that needs more than its own step must spend the cost here first, so that no work
/// starts without enough budget.
pub struct Budget {
    left: Cell<usize>,
    depth: Cell<usize>,
}

impl Budget {
    /// A budget for this number of bytes, written or read.
    pub fn new(bytes: usize) -> Self {
        Self { left: Cell::new(bytes), depth: Cell::new(0) }
    }

    /// Pays for bytes, or for values of a list.
    pub fn spend(&self, bytes: usize) -> Result<()> {
        self.left.set(self.left.get().checked_sub(bytes).ok_or(JinjaError::TooMuchWork)?);
        Ok(())
    }

    /// Pays for a step inside the current one.
    pub fn enter(&self) -> Result<()> {
        self.spend(STEP)?;
        let depth = self.depth.get() + 1;
        if depth > MAX_DEPTH {
            return Err(JinjaError::TooDeep);
        }
        self.depth.set(depth);
        Ok(())
    }

    /// Ends the step that was entered last.
    pub fn leave(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }
}

/// A text whose bytes are paid for before they are added.
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
