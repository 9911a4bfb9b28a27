//! WGSL's operators and functions on one component. `None` for unsupported ones.

use naga::{BinaryOperator, MathFunction, ScalarKind, UnaryOperator};

pub enum Function1 {
    Words(fn(u32) -> u32),
    Float(fn(f32) -> f32),
}

pub enum Function2 {
    Words(fn(u32, u32) -> u32),
    Float(fn(f32, f32) -> f32),
    Compare(fn(f32, f32) -> bool),
}

use Function2::{Compare, Float, Words};
use ScalarKind::{Bool, Sint, Uint};

const fn signed(word: u32) -> i32 {
    word.cast_signed()
}

pub fn unary(operator: UnaryOperator, kind: ScalarKind) -> Option<Function1> {
    match (operator, kind) {
        (UnaryOperator::Negate, ScalarKind::Float) => Some(Function1::Float(|a| -a)),
        (UnaryOperator::Negate, Sint) => Some(Function1::Words(u32::wrapping_neg)),
        (UnaryOperator::LogicalNot, Bool) => Some(Function1::Words(|a| a ^ 1)),
        (UnaryOperator::BitwiseNot, Sint | Uint) => Some(Function1::Words(|a| !a)),
        _ => None,
    }
}

pub fn binary(operator: BinaryOperator, kind: ScalarKind) -> Option<Function2> {
    if kind == ScalarKind::Float { on_floats(operator) } else { on_words(operator, kind) }
}

fn on_floats(operator: BinaryOperator) -> Option<Function2> {
    match operator {
        BinaryOperator::Add => Some(Float(|a, b| a + b)),
        BinaryOperator::Subtract => Some(Float(|a, b| a - b)),
        BinaryOperator::Multiply => Some(Float(|a, b| a * b)),
        BinaryOperator::Divide => Some(Float(|a, b| a / b)),
        BinaryOperator::Equal => Some(Compare(|a, b| a == b)),
        BinaryOperator::NotEqual => Some(Compare(|a, b| a != b)),
        BinaryOperator::Less => Some(Compare(|a, b| a < b)),
        BinaryOperator::LessEqual => Some(Compare(|a, b| a <= b)),
        BinaryOperator::Greater => Some(Compare(|a, b| a > b)),
        BinaryOperator::GreaterEqual => Some(Compare(|a, b| a >= b)),
        _ => None,
    }
}

/// Follows WGSL: integers wrap, and dividing a number by zero returns the number.
fn on_words(operator: BinaryOperator, kind: ScalarKind) -> Option<Function2> {
    let is_signed = kind == Sint;
    match operator {
        BinaryOperator::Add => Some(Words(u32::wrapping_add)),
        BinaryOperator::Subtract => Some(Words(u32::wrapping_sub)),
        BinaryOperator::Multiply => Some(Words(u32::wrapping_mul)),
        BinaryOperator::Divide if kind == Uint => Some(Words(|a, b| a.checked_div(b).unwrap_or(a))),
        BinaryOperator::Modulo if kind == Uint => Some(Words(|a, b| a.checked_rem(b).unwrap_or(0))),
        BinaryOperator::Equal => Some(Words(|a, b| u32::from(a == b))),
        BinaryOperator::NotEqual => Some(Words(|a, b| u32::from(a != b))),
        BinaryOperator::Less if is_signed => Some(Words(|a, b| u32::from(signed(a) < signed(b)))),
        BinaryOperator::Less => Some(Words(|a, b| u32::from(a < b))),
        BinaryOperator::LessEqual if is_signed => Some(Words(|a, b| u32::from(signed(a) <= signed(b)))),
        BinaryOperator::LessEqual => Some(Words(|a, b| u32::from(a <= b))),
        BinaryOperator::Greater if is_signed => Some(Words(|a, b| u32::from(signed(a) > signed(b)))),
        BinaryOperator::Greater => Some(Words(|a, b| u32::from(a > b))),
        BinaryOperator::GreaterEqual if is_signed => Some(Words(|a, b| u32::from(signed(a) >= signed(b)))),
        BinaryOperator::GreaterEqual => Some(Words(|a, b| u32::from(a >= b))),
        BinaryOperator::And | BinaryOperator::LogicalAnd => Some(Words(|a, b| a & b)),
        BinaryOperator::InclusiveOr | BinaryOperator::LogicalOr => Some(Words(|a, b| a | b)),
        BinaryOperator::ExclusiveOr => Some(Words(|a, b| a ^ b)),
        BinaryOperator::ShiftLeft => Some(Words(u32::wrapping_shl)),
        BinaryOperator::ShiftRight if is_signed => Some(Words(|a, b| signed(a).wrapping_shr(b).cast_unsigned())),
        BinaryOperator::ShiftRight => Some(Words(u32::wrapping_shr)),
        _ => None,
    }
}

pub fn math1(function: MathFunction, kind: ScalarKind) -> Option<Function1> {
    if kind != ScalarKind::Float {
        return None;
    }
    match function {
        MathFunction::Abs => Some(Function1::Float(f32::abs)),
        MathFunction::Exp => Some(Function1::Float(f32::exp)),
        MathFunction::Log => Some(Function1::Float(f32::ln)),
        MathFunction::Sqrt => Some(Function1::Float(f32::sqrt)),
        MathFunction::InverseSqrt => Some(Function1::Float(|a| 1.0 / a.sqrt())),
        _ => None,
    }
}

pub fn math2(function: MathFunction, kind: ScalarKind) -> Option<Function2> {
    match (function, kind) {
        (MathFunction::Min, ScalarKind::Float) => Some(Float(f32::min)),
        (MathFunction::Max, ScalarKind::Float) => Some(Float(f32::max)),
        (MathFunction::Min, Uint) => Some(Words(u32::min)),
        (MathFunction::Max, Uint) => Some(Words(u32::max)),
        (MathFunction::Min, Sint) => Some(Words(|a, b| signed(a).min(signed(b)).cast_unsigned())),
        (MathFunction::Max, Sint) => Some(Words(|a, b| signed(a).max(signed(b)).cast_unsigned())),
        _ => None,
    }
}

/// Function that converts the word of a value from one kind to another.
pub fn conversion(from: ScalarKind, to: ScalarKind) -> Option<fn(u32) -> u32> {
    match (from, to) {
        (from, to) if from == to => Some(|word| word),
        (Uint, ScalarKind::Float) => Some(|word| (word as f32).to_bits()),
        (Sint, ScalarKind::Float) => Some(|word| (signed(word) as f32).to_bits()),
        (Bool, ScalarKind::Float) => Some(|word| if word == 0 { 0 } else { 1.0_f32.to_bits() }),
        (ScalarKind::Float, Uint) => Some(|word| f32::from_bits(word) as u32),
        (ScalarKind::Float, Sint) => Some(|word| (f32::from_bits(word) as i32).cast_unsigned()),
        (Bool | Sint | Uint, Sint | Uint) => Some(|word| word),
        (Sint | Uint, Bool) => Some(|word| u32::from(word != 0)),
        _ => None,
    }
}
