//! Compiles statements.

use naga::{AtomicFunction, Barrier, Block, Expression, Handle, Statement};

use super::{Compiler, Frame, Value};
use crate::code::Op;
use crate::error::Error;

/// Target of a jump before it is known.
const NOWHERE: usize = usize::MAX;

impl<'m> Compiler<'m> {
    pub(super) fn block(&mut self, frame: &mut Frame<'m>, block: &'m Block) -> Result<(), Error> {
        for (statement, span) in block.span_iter() {
            self.at(*span);
            self.statement(frame, statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, frame: &mut Frame<'m>, statement: &'m Statement) -> Result<(), Error> {
        match *statement {
            Statement::Emit(ref range) => {
                for handle in range.clone() {
                    self.at(frame.function.expressions.get_span(handle));
                    let value = self.expression(frame, handle)?;
                    frame.values.insert(handle, value);
                }
            }
            Statement::Block(ref block) => self.block(frame, block)?,
            Statement::If { condition, ref accept, ref reject } => {
                let condition = self.words_of(frame, condition)?;
                let to_reject = self.push(Op::JumpUnless { condition, to: NOWHERE });
                self.block(frame, accept)?;
                let to_end = self.push(Op::Jump { to: NOWHERE });
                self.land([to_reject]);
                self.block(frame, reject)?;
                self.land([to_end]);
            }
            Statement::Loop { ref body, ref continuing, break_if } => self.repeat(frame, body, continuing, break_if)?,
            Statement::Break => {
                let jump = self.push(Op::Jump { to: NOWHERE });
                frame.breaks.last_mut().expect("a break is in a loop").push(jump);
            }
            Statement::Continue => {
                let jump = self.push(Op::Jump { to: NOWHERE });
                frame.continues.last_mut().expect("a continue is in a loop").push(jump);
            }
            Statement::Return { value } => {
                if let Some(value) = value {
                    let (from, n) = (self.words_of(frame, value)?, self.width(frame, value)?);
                    self.push(Op::Copy { to: frame.result, from, n });
                }
                frame.returns.push(self.push(Op::Jump { to: NOWHERE }));
            }
            Statement::ControlBarrier(barrier) if (Barrier::WORK_GROUP | Barrier::STORAGE).contains(barrier) => {
                let (workgroup, storage) = (barrier.contains(Barrier::WORK_GROUP), barrier.contains(Barrier::STORAGE));
                self.push(Op::Barrier { workgroup, storage });
            }
            Statement::Store { pointer, value } => {
                let to = self.place_of(frame, pointer)?;
                let (from, n) = (self.words_of(frame, value)?, self.width(frame, value)?);
                self.push(Op::Store { to, from, n });
            }
            Statement::Atomic { pointer, fun: AtomicFunction::Add, value, result } => {
                let (to, value, before) = (self.place_of(frame, pointer)?, self.words_of(frame, value)?, self.allocate(1));
                self.push(Op::Add { to, value, before });
                if let Some(result) = result {
                    frame.values.insert(result, Value::Words(before));
                }
            }
            Statement::Call { function, ref arguments, result } => {
                let mut values = Vec::new();
                for &argument in arguments {
                    values.push(self.value(frame, argument)?);
                }
                let at = self.inline(&self.module.functions[function], &self.info[function], values)?;
                if let Some(result) = result {
                    frame.values.insert(result, Value::Words(at));
                }
            }
            ref other => return Err(self.unsupported(other)),
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        frame: &mut Frame<'m>,
        body: &'m Block,
        continuing: &'m Block,
        break_if: Option<Handle<Expression>>,
    ) -> Result<(), Error> {
        let start = self.code.ops.len();
        frame.breaks.push(Vec::new());
        frame.continues.push(Vec::new());
        self.block(frame, body)?;
        let continues = frame.continues.pop().unwrap_or_default();
        self.land(continues);
        self.block(frame, continuing)?;
        match break_if {
            Some(condition) => {
                let condition = self.words_of(frame, condition)?;
                self.push(Op::JumpUnless { condition, to: start });
            }
            None => {
                self.push(Op::Jump { to: start });
            }
        }
        let breaks = frame.breaks.pop().unwrap_or_default();
        self.land(breaks);
        Ok(())
    }
}
