//! Compiles naga's IR to [`Code`]: inlines functions, assigns words to values, and turns blocks into jumps.

mod constants;
mod expressions;
mod operators;
mod statements;

use std::collections::HashMap;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, Binding, BuiltIn, Expression, Function, GlobalVariable, Handle, LocalVariable, Module, Span, StorageAccess, TypeInner,
};

use crate::code::{At, Code, Input, Op, Place, Space, Variable};
use crate::error::Error;
use crate::layout;

/// Compiles the compute shader `main` of a module. If `fuses`, a product and the sum that it is added to become one operation.
pub fn compile(module: &Module, info: &ModuleInfo, source: &str, fuses: bool) -> Result<Code, Error> {
    let index = module.entry_points.iter().position(|entry| entry.name == "main");
    let index = index.ok_or_else(|| Error::Invalid("it has no function main".into()))?;
    let entry = &module.entry_points[index];
    let (words, inputs, shared) = (Vec::new(), Vec::new(), Vec::new());
    let code = Code { ops: Vec::new(), lines: Vec::new(), words, inputs, shared, workgroup_size: entry.workgroup_size };
    let mut compiler = Compiler { module, info, source, fuses, code, globals: HashMap::new(), constants: HashMap::new(), line: 1 };
    for (handle, variable) in module.global_variables.iter() {
        compiler.global(handle, variable)?;
    }
    let mut arguments = Vec::new();
    for argument in &entry.function.arguments {
        arguments.push(Value::Words(compiler.input(argument)?));
    }
    compiler.inline(&entry.function, info.get_entry_point(index), arguments)?;
    compiler.push(Op::End);
    Ok(compiler.code)
}

struct Compiler<'m> {
    module: &'m Module,
    info: &'m ModuleInfo,
    source: &'m str,
    fuses: bool,
    code: Code,
    globals: HashMap<Handle<GlobalVariable>, Place>,
    /// Words of the constants that were used so far.
    constants: HashMap<Vec<u32>, At>,
    /// WGSL line of the code that is being compiled.
    line: u32,
}

/// One inlined call.
struct Frame<'m> {
    function: &'m Function,
    info: &'m FunctionInfo,
    values: HashMap<Handle<Expression>, Value>,
    locals: HashMap<Handle<LocalVariable>, At>,
    arguments: Vec<Value>,
    /// Word of the result.
    result: At,
    /// Jumps to the end of the call; to the end of each enclosing loop, innermost last; and to the continuing block of each loop.
    returns: Vec<usize>,
    breaks: Vec<Vec<usize>>,
    continues: Vec<Vec<usize>>,
}

/// Value of an expression.
#[derive(Clone, Copy)]
enum Value {
    Words(At),
    /// The target of a pointer.
    Place(Place),
}

impl<'m> Compiler<'m> {
    fn unsupported(&self, what: &dyn std::fmt::Debug) -> Error {
        let what = format!("{what:?}");
        let name: String = what.chars().take_while(|c| c.is_alphanumeric()).collect();
        Error::Unsupported { what: if name.is_empty() { what } else { name }, line: self.line }
    }

    /// Sets the line for later errors.
    fn at(&mut self, span: Span) {
        if span.is_defined() {
            self.line = span.location(self.source).line_number;
        }
    }

    fn push(&mut self, op: Op) -> usize {
        self.code.ops.push(op);
        self.code.lines.push(self.line);
        self.code.ops.len() - 1
    }

    /// Makes jumps go to the next operation.
    fn land(&mut self, jumps: impl IntoIterator<Item = usize>) {
        let next = self.code.ops.len();
        for jump in jumps {
            match &mut self.code.ops[jump] {
                Op::Jump { to } | Op::JumpUnless { to, .. } => *to = next,
                _ => unreachable!("only jumps land"),
            }
        }
    }

    /// Reserves words of an invocation, initially zero.
    fn allocate(&mut self, n: usize) -> At {
        let at = self.code.words.len();
        self.code.words.resize(at + n, 0);
        at
    }

    fn words(&self, inner: &TypeInner) -> Result<usize, Error> {
        layout::words(self.module, inner).ok_or_else(|| self.unsupported(inner))
    }

    fn global(&mut self, handle: Handle<GlobalVariable>, variable: &'m GlobalVariable) -> Result<(), Error> {
        self.at(self.module.global_variables.get_span(handle));
        let inner = &self.module.types[variable.ty].inner;
        let words = self.words(inner)?;
        let place = match variable.space {
            AddressSpace::Private => {
                let at = self.allocate(words);
                if let Some(init) = variable.init {
                    let value = self.constant(&self.module.global_expressions, init)?;
                    self.code.words[at..at + words].copy_from_slice(&value);
                }
                Place { space: Space::Own, at, offset: None }
            }
            AddressSpace::Storage { .. } | AddressSpace::Uniform | AddressSpace::WorkGroup => {
                let is_written = match variable.space {
                    AddressSpace::Storage { access } => access.contains(StorageAccess::STORE),
                    space => space == AddressSpace::WorkGroup,
                };
                let binding = variable.binding.map(|binding| binding.binding as usize);
                let name = variable.name.clone().unwrap_or_default();
                let (struct_words, members) = self.members(inner);
                self.code.shared.push(Variable { name, binding, words, struct_words, members, is_written });
                Place { space: Space::Shared(self.code.shared.len() - 1), at: 0, offset: None }
            }
            space => return Err(self.unsupported(&space)),
        };
        self.globals.insert(handle, place);
        Ok(())
    }

    /// Words of a struct, or of an array element that is a struct, and the names and offsets of its members.
    fn members(&self, inner: &TypeInner) -> (usize, Vec<(String, usize)>) {
        let inner = if let TypeInner::Array { base, .. } = *inner { &self.module.types[base].inner } else { inner };
        let TypeInner::Struct { members, .. } = inner else { return (0, Vec::new()) };
        let offset = |i| layout::member_offset(self.module, inner, i).unwrap_or_default();
        let named = members.iter().enumerate().map(|(i, member)| (member.name.clone().unwrap_or_default(), offset(i)));
        (layout::words(self.module, inner).unwrap_or_default(), named.collect())
    }

    fn input(&mut self, argument: &naga::FunctionArgument) -> Result<At, Error> {
        let input = match argument.binding {
            Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId)) => Input::GlobalInvocationId,
            Some(Binding::BuiltIn(BuiltIn::LocalInvocationId)) => Input::LocalInvocationId,
            Some(Binding::BuiltIn(BuiltIn::LocalInvocationIndex)) => Input::LocalInvocationIndex,
            Some(Binding::BuiltIn(BuiltIn::WorkGroupId)) => Input::WorkgroupId,
            Some(Binding::BuiltIn(BuiltIn::WorkGroupSize)) => Input::WorkgroupSize,
            Some(Binding::BuiltIn(BuiltIn::NumWorkGroups)) => Input::NWorkgroups,
            ref other => return Err(self.unsupported(other)),
        };
        let at = self.allocate(self.words(&self.module.types[argument.ty].inner)?);
        self.code.inputs.push((input, at));
        Ok(at)
    }

    /// Compiles the body of a function. Returns the word of its result.
    fn inline(&mut self, function: &'m Function, info: &'m FunctionInfo, arguments: Vec<Value>) -> Result<At, Error> {
        let result = match &function.result {
            Some(result) => self.allocate(self.words(&self.module.types[result.ty].inner)?),
            None => 0,
        };
        let (values, locals) = (HashMap::new(), HashMap::new());
        let (returns, breaks, continues) = (Vec::new(), Vec::new(), Vec::new());
        let mut frame = Frame { function, info, values, locals, arguments, result, returns, breaks, continues };
        for (handle, local) in function.local_variables.iter() {
            let n = self.words(&self.module.types[local.ty].inner)?;
            let at = self.allocate(n);
            let init = match local.init {
                Some(init) => self.constant(&function.expressions, init)?,
                None => vec![0; n],
            };
            let from = self.constant_at(init);
            self.push(Op::Copy { to: at, from, n });
            frame.locals.insert(handle, at);
        }
        self.block(&mut frame, &function.body)?;
        let returns = std::mem::take(&mut frame.returns);
        self.land(returns);
        Ok(result)
    }
}
