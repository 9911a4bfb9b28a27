//! Limits the work of a rendering.

use std::cell::Cell;

use super::error::{JinjaError, Result};

/// Cost of one step. One byte written or read costs 1.
const STEP: usize = 32;
/// Maximum nesting of steps: operators in operands, blocks in blocks, macros called by macros.
const MAX_DEPTH: usize = 200;

/// The work and memory that one rendering may still use, in bytes: a byte read or written costs 1, and a step costs 32. Work is paid for
/// before it starts, so a rendering never exceeds its budget.
pub struct Budget {
    left: Cell<usize>,
    depth: Cell<usize>,
}

impl Budget {
    /// A budget of this many bytes. Rendering one short message of a usual chat template costs about ten thousand.
    pub fn new(bytes: usize) -> Self {
        Self { left: Cell::new(bytes), depth: Cell::new(0) }
    }

    /// Pays for bytes, or for values of a list.
    pub(crate) fn spend(&self, bytes: usize) -> Result<()> {
        self.left.set(self.left.get().checked_sub(bytes).ok_or(JinjaError::TooMuchWork)?);
        Ok(())
    }

    /// Pays for a step without nesting.
    pub(crate) fn spend_step(&self) -> Result<()> {
        self.spend(STEP)
    }

    /// Pays for a step inside the current one.
    pub(crate) fn enter(&self) -> Result<()> {
        self.spend_step()?;
        let depth = self.depth.get() + 1;
        if depth > MAX_DEPTH {
            return Err(JinjaError::TooDeep);
        }
        self.depth.set(depth);
        Ok(())
    }

    /// Ends the step that was entered last.
    pub(crate) fn leave(&self) {
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
