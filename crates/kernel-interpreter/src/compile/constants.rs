//! Values that are known at compile time.

use naga::{Arena, Expression, Handle, Literal};

use super::Compiler;
use crate::code::At;
use crate::error::Error;
use crate::layout;

impl Compiler<'_> {
    /// The words of a constant expression.
    pub(super) fn constant(&self, arena: &Arena<Expression>, handle: Handle<Expression>) -> Result<Vec<u32>, Error> {
        match arena[handle] {
            Expression::Literal(Literal::F32(value)) => Ok(vec![value.to_bits()]),
            Expression::Literal(Literal::U32(value)) => Ok(vec![value]),
            Expression::Literal(Literal::I32(value)) => Ok(vec![value.cast_unsigned()]),
            Expression::Literal(Literal::Bool(value)) => Ok(vec![u32::from(value)]),
            Expression::Constant(constant) => self.constant(&self.module.global_expressions, self.module.constants[constant].init),
            Expression::ZeroValue(ty) => Ok(vec![0; self.words(&self.module.types[ty].inner)?]),
            Expression::Splat { size, value } => Ok(self.constant(arena, value)?.repeat(size as usize)),
            Expression::Compose { ty, ref components } => {
                let inner = &self.module.types[ty].inner;
                let mut words = vec![0; self.words(inner)?];
                let mut end = 0;
                for (i, &component) in components.iter().enumerate() {
                    let value = self.constant(arena, component)?;
                    // A vector may be composed of vectors.
                    let at = match inner {
                        naga::TypeInner::Vector { .. } => end,
                        _ => layout::component(self.module, inner, i).ok_or_else(|| self.unsupported(inner))?.1,
                    };
                    end = at + value.len();
                    words[at..end].copy_from_slice(&value);
                }
                Ok(words)
            }
            ref other => Err(self.unsupported(other)),
        }
    }

    /// Index of these words in every invocation.
    pub(super) fn constant_at(&mut self, words: Vec<u32>) -> At {
        if let Some(&at) = self.constants.get(&words) {
            return at;
        }
        let at = self.allocate(words.len());
        self.code.words[at..at + words.len()].copy_from_slice(&words);
        self.constants.insert(words, at);
        at
    }
}
