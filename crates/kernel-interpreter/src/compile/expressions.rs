//! Compiles expressions.

use naga::{BinaryOperator, Expression, Handle, MathFunction, ScalarKind, TypeInner};

use super::operators::{Function1, Function2, binary, conversion, math1, math2, unary};
use super::{Compiler, Frame, Value};
use crate::code::{At, Length, Op, Operand, Place, Space};
use crate::error::Error;
use crate::layout;

impl<'m> Compiler<'m> {
    fn ty(&self, frame: &Frame<'m>, handle: Handle<Expression>) -> TypeInner {
        frame.info[handle].ty.inner_with(&self.module.types).clone()
    }

    /// Number of words of a value.
    pub(super) fn width(&self, frame: &Frame<'m>, handle: Handle<Expression>) -> Result<usize, Error> {
        self.words(&self.ty(frame, handle))
    }

    fn kind(&self, frame: &Frame<'m>, handle: Handle<Expression>) -> Result<ScalarKind, Error> {
        let inner = self.ty(frame, handle);
        inner.scalar_kind().ok_or_else(|| self.unsupported(&inner))
    }

    /// Value of an expression that was computed before, or that needs no computation.
    pub(super) fn value(&mut self, frame: &Frame<'m>, handle: Handle<Expression>) -> Result<Value, Error> {
        if let Some(&value) = frame.values.get(&handle) {
            return Ok(value);
        }
        match frame.function.expressions[handle] {
            Expression::FunctionArgument(index) => Ok(frame.arguments[index as usize]),
            Expression::GlobalVariable(variable) => Ok(Value::Place(self.globals[&variable])),
            Expression::LocalVariable(variable) => Ok(Value::Place(Place { space: Space::Own, at: frame.locals[&variable], offset: None })),
            _ => {
                let words = self.constant(&frame.function.expressions, handle)?;
                Ok(Value::Words(self.constant_at(words)))
            }
        }
    }

    pub(super) fn words_of(&mut self, frame: &Frame<'m>, handle: Handle<Expression>) -> Result<At, Error> {
        match self.value(frame, handle)? {
            Value::Words(at) => Ok(at),
            Value::Place(_) => Err(self.unsupported(&"a pointer as a value")),
        }
    }

    pub(super) fn place_of(&mut self, frame: &Frame<'m>, handle: Handle<Expression>) -> Result<Place, Error> {
        match self.value(frame, handle)? {
            Value::Place(place) => Ok(place),
            Value::Words(_) => Err(self.unsupported(&"a value as a pointer")),
        }
    }

    fn operand(&mut self, frame: &Frame<'m>, handle: Handle<Expression>) -> Result<Operand, Error> {
        let n = self.width(frame, handle)?;
        Ok(Operand { at: self.words_of(frame, handle)?, step: usize::from(n > 1) })
    }

    pub(super) fn expression(&mut self, frame: &Frame<'m>, handle: Handle<Expression>) -> Result<Value, Error> {
        match frame.function.expressions[handle] {
            Expression::Access { base, index } => return self.access(frame, base, index),
            Expression::AccessIndex { base, index } => return self.access_index(frame, base, index as usize),
            _ => {}
        }
        let n = self.width(frame, handle)?;
        let to = self.allocate(n);
        match frame.function.expressions[handle] {
            Expression::Compose { ref components, .. } => self.compose(frame, &self.ty(frame, handle), components, to)?,
            Expression::Splat { value, .. } => {
                let from = self.words_of(frame, value)?;
                for i in 0..n {
                    self.push(Op::Copy { to: to + i, from, n: 1 });
                }
            }
            Expression::Swizzle { vector, pattern, .. } => {
                let from = self.words_of(frame, vector)?;
                for (i, component) in pattern.iter().enumerate().take(n) {
                    self.push(Op::Copy { to: to + i, from: from + *component as usize, n: 1 });
                }
            }
            Expression::Load { pointer } => {
                let from = self.place_of(frame, pointer)?;
                self.push(Op::Load { to, from, n });
            }
            Expression::Unary { op, expr } => {
                let (kind, a) = (self.kind(frame, expr)?, self.words_of(frame, expr)?);
                let function = unary(op, kind).ok_or_else(|| self.unsupported(&op))?;
                self.apply1(function, to, a, n);
            }
            Expression::Binary { op, left, right } => self.binary(frame, op, [left, right], to, n)?,
            Expression::Select { condition, accept, reject } => {
                let condition = self.operand(frame, condition)?;
                let (accept, reject) = (self.words_of(frame, accept)?, self.words_of(frame, reject)?);
                self.push(Op::Select { to, condition, accept, reject, n });
            }
            Expression::Math { fun, arg, arg1, arg2, arg3: None } => self.math(frame, fun, [Some(arg), arg1, arg2], to, n)?,
            Expression::As { expr, kind, convert } => {
                let (from_kind, a) = (self.kind(frame, expr)?, self.words_of(frame, expr)?);
                let function = match convert {
                    None => (|word| word) as fn(u32) -> u32,
                    Some(_) => conversion(from_kind, kind).ok_or_else(|| self.unsupported(&kind))?,
                };
                self.push(Op::Words1 { f: function, to, a, n });
            }
            ref other => return Err(self.unsupported(other)),
        }
        Ok(Value::Words(to))
    }

    /// Element `index` of an array or vector, or a pointer to it.
    fn access(&mut self, frame: &Frame<'m>, base: Handle<Expression>, index: Handle<Expression>) -> Result<Value, Error> {
        let index = self.words_of(frame, index)?;
        self.element(frame, base, index)
    }

    fn element(&mut self, frame: &Frame<'m>, base: Handle<Expression>, index: At) -> Result<Value, Error> {
        let of = self.ty(frame, base);
        let pointee = layout::pointee(self.module, &of);
        let place = match self.value(frame, base)? {
            Value::Place(place) => place,
            Value::Words(at) => Place { space: Space::Own, at, offset: None },
        };
        let inner = pointee.clone().unwrap_or(of);
        let (element, _) = layout::component(self.module, &inner, 0).ok_or_else(|| self.unsupported(&inner))?;
        let stride = layout::component(self.module, &inner, 1).map_or(0, |(_, offset)| offset);
        let length = match (self.words(&inner)?, place) {
            (0, Place { space: Space::Shared(shared), at: 0, offset: None }) => Length::Of { shared, words: stride },
            (0, _) => return Err(self.unsupported(&"an array of unknown length in a struct")),
            (words, _) => Length::Fixed(words / stride),
        };
        let to = self.allocate(1);
        self.push(Op::Element { to, before: place.offset, index, length, words: stride });
        let place = Place { offset: Some(to), ..place };
        if pointee.is_some() {
            return Ok(Value::Place(place));
        }
        let n = self.words(&element)?;
        let to = self.allocate(n);
        self.push(Op::Load { to, from: place, n });
        Ok(Value::Words(to))
    }

    /// Like [`Self::access`], for a constant index or a struct member.
    fn access_index(&mut self, frame: &Frame<'m>, base: Handle<Expression>, index: usize) -> Result<Value, Error> {
        let of = self.ty(frame, base);
        let inner = layout::pointee(self.module, &of).unwrap_or(of);
        if self.words(&inner)? == 0 {
            let index = self.constant_at(vec![index as u32]);
            return self.element(frame, base, index);
        }
        let (_, offset) = layout::component(self.module, &inner, index).ok_or_else(|| self.unsupported(&inner))?;
        Ok(match self.value(frame, base)? {
            Value::Words(at) => Value::Words(at + offset),
            Value::Place(place) => Value::Place(Place { at: place.at + offset, ..place }),
        })
    }

    fn compose(&mut self, frame: &Frame<'m>, inner: &TypeInner, components: &[Handle<Expression>], to: At) -> Result<(), Error> {
        let mut end = 0;
        for (i, &component) in components.iter().enumerate() {
            let (from, n) = (self.words_of(frame, component)?, self.width(frame, component)?);
            // A vector may be composed of vectors.
            let at = match inner {
                TypeInner::Vector { .. } => end,
                _ => layout::component(self.module, inner, i).ok_or_else(|| self.unsupported(inner))?.1,
            };
            self.push(Op::Copy { to: to + at, from, n });
            end = at + n;
        }
        Ok(())
    }

    fn binary(&mut self, frame: &Frame<'m>, op: BinaryOperator, sides: [Handle<Expression>; 2], to: At, n: usize) -> Result<(), Error> {
        let [left, right] = sides;
        let kind = self.kind(frame, left)?;
        let is_sum = matches!(op, BinaryOperator::Add | BinaryOperator::Subtract);
        if self.fuses && is_sum && kind == ScalarKind::Float {
            let subtracts = op == BinaryOperator::Subtract;
            for (product, other, negated) in [(right, left, [subtracts, false]), (left, right, [false, subtracts])] {
                if let Expression::Binary { op: BinaryOperator::Multiply, left: a, right: b } = frame.function.expressions[product] {
                    let [a, b, c] = [self.operand(frame, a)?, self.operand(frame, b)?, self.operand(frame, other)?];
                    self.push(Op::MultiplyAdd { to, a, b, c, negated, n });
                    return Ok(());
                }
            }
        }
        let (a, b) = (self.operand(frame, left)?, self.operand(frame, right)?);
        let function = binary(op, kind).ok_or_else(|| self.unsupported(&op))?;
        self.apply2(function, to, a, b, n);
        Ok(())
    }

    fn math(
        &mut self,
        frame: &Frame<'m>,
        function: MathFunction,
        arguments: [Option<Handle<Expression>>; 3],
        to: At,
        n: usize,
    ) -> Result<(), Error> {
        let mut operands = Vec::new();
        for argument in arguments.into_iter().flatten() {
            operands.push((self.operand(frame, argument)?, self.width(frame, argument)?, self.kind(frame, argument)?));
        }
        match (function, &operands[..]) {
            (MathFunction::Dot, &[(a, n, ScalarKind::Float), (b, ..)]) => {
                self.push(Op::Dot { to, a: a.at, b: b.at, n });
            }
            (MathFunction::Fma, &[(a, ..), (b, ..), (c, ..)]) => {
                self.push(Op::MultiplyAdd { to, a, b, c, negated: [false; 2], n });
            }
            (MathFunction::Unpack2x16float, &[(a, ..)]) => {
                self.push(Op::UnpackF16x2 { to, a: a.at });
            }
            (_, &[(a, _, kind)]) => {
                let function = math1(function, kind).ok_or_else(|| self.unsupported(&function))?;
                self.apply1(function, to, a.at, n);
            }
            (_, &[(a, _, kind), (b, ..)]) => {
                let function = math2(function, kind).ok_or_else(|| self.unsupported(&function))?;
                self.apply2(function, to, a, b, n);
            }
            _ => return Err(self.unsupported(&function)),
        }
        Ok(())
    }

    fn apply1(&mut self, function: Function1, to: At, a: At, n: usize) {
        self.push(match function {
            Function1::Words(f) => Op::Words1 { f, to, a, n },
            Function1::Float(f) => Op::Float1 { f, to, a, n },
        });
    }

    fn apply2(&mut self, function: Function2, to: At, a: Operand, b: Operand, n: usize) {
        self.push(match function {
            Function2::Words(f) => Op::Words2 { f, to, a, b, n },
            Function2::Float(f) => Op::Float2 { f, to, a, b, n },
            Function2::Compare(f) => Op::Compare { f, to, a, b, n },
        });
    }
}
