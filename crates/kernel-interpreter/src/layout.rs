//! Layout of values in 4-byte words. Follows WGSL's memory layout. Booleans, which WGSL does not store in memory, take one word each.

use naga::{ArraySize, Handle, Module, ScalarKind, Type, TypeInner};

/// Number of words of a value; 0 for a runtime-sized array, `None` for an unsupported type.
pub fn words(module: &Module, inner: &TypeInner) -> Option<usize> {
    match *inner {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => (scalar.width == 4 || scalar.kind == ScalarKind::Bool).then_some(1),
        TypeInner::Vector { size, scalar } => (scalar.width == 4 || scalar.kind == ScalarKind::Bool).then_some(size as usize),
        TypeInner::Array { base, size, stride } => match size {
            ArraySize::Constant(length) => Some(length.get() as usize * stride_words(module, base, stride)?),
            ArraySize::Dynamic => Some(0),
            ArraySize::Pending(_) => None,
        },
        TypeInner::Struct { ref members, span } => {
            let last = members.len().checked_sub(1)?;
            let end = member_offset(module, inner, last)? + words(module, &module.types[members[last].ty].inner)?;
            Some(end.max(span as usize / 4))
        }
        _ => None,
    }
}

/// Number of words from one array element to the next.
pub fn stride_words(module: &Module, base: Handle<Type>, stride: u32) -> Option<usize> {
    Some(words(module, &module.types[base].inner)?.max(stride as usize / 4))
}

/// Word offset of a struct member.
pub fn member_offset(module: &Module, inner: &TypeInner, index: usize) -> Option<usize> {
    let TypeInner::Struct { members, .. } = inner else { return None };
    let mut end = 0;
    for (i, member) in members.iter().enumerate() {
        let at = end.max(member.offset as usize / 4);
        if i == index {
            return Some(at);
        }
        end = at + words(module, &module.types[member.ty].inner)?;
    }
    None
}

/// Type and offset of element or member `index` of a value.
pub fn component(module: &Module, inner: &TypeInner, index: usize) -> Option<(TypeInner, usize)> {
    match *inner {
        TypeInner::Vector { scalar, .. } => Some((TypeInner::Scalar(scalar), index)),
        TypeInner::Array { base, stride, .. } => Some((module.types[base].inner.clone(), index * stride_words(module, base, stride)?)),
        TypeInner::Struct { ref members, .. } => {
            Some((module.types[members[index].ty].inner.clone(), member_offset(module, inner, index)?))
        }
        _ => None,
    }
}

/// Type that a pointer points to; `None` if the type is not a pointer.
pub fn pointee(module: &Module, inner: &TypeInner) -> Option<TypeInner> {
    match *inner {
        TypeInner::Pointer { base, .. } => Some(module.types[base].inner.clone()),
        TypeInner::ValuePointer { size: Some(size), scalar, .. } => Some(TypeInner::Vector { size, scalar }),
        TypeInner::ValuePointer { size: None, scalar, .. } => Some(TypeInner::Scalar(scalar)),
        _ => None,
    }
}
