#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod arithmetic;
mod code;
mod compile;
mod error;
mod layout;
mod memory;
mod run;
#[cfg(test)]
mod tests;

use naga::valid::{Capabilities, ValidationFlags, Validator};

pub use arithmetic::Arithmetic;
pub use error::{Error, Use};
pub use run::Access;

use code::{Code, Variable};
use memory::Shared;
use run::{Machine, Shuffle};

/// Initial content of workgroup memory, which no kernel can read.
const GARBAGE: u32 = 0x7fc0_dead;

/// A compiled compute shader, whose entry point is `main`.
pub struct Kernel {
    code: Code,
    arithmetic: Arithmetic,
}

impl Kernel {
    /// Compiles WGSL. Errors if it is not valid ([`Error::Invalid`]), or if it uses what the interpreter does not support
    /// ([`Error::Unsupported`]).
    pub fn new(wgsl: &str, arithmetic: Arithmetic) -> Result<Self, Error> {
        let module = naga::front::wgsl::parse_str(wgsl).map_err(|error| Error::Invalid(error.emit_to_string(wgsl)))?;
        // The interpreter checks at run time which invocations reach a barrier.
        let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
        let info = Validator::new(flags, Capabilities::SHADER_FLOAT16_IN_FLOAT32).validate(&module);
        let info = info.map_err(|error| Error::Invalid(error.emit_to_string(wgsl)))?;
        Ok(Self { code: compile::compile(&module, &info, wgsl, arithmetic.fuses)?, arithmetic })
    }

    /// The 32-bit words of the struct at a binding of group 0, or of one element if the binding is an array of structs: `values` by the
    /// names of members, and 0 for all other members. Errors if there is no such binding or member.
    pub fn members(&self, binding: usize, values: &[(&str, u32)]) -> Result<Vec<u32>, Error> {
        let variable = self.code.shared.iter().find(|variable| variable.binding == Some(binding));
        let variable = variable.ok_or_else(|| Error::Dispatch(format!("nothing is at binding {binding}")))?;
        let mut words = vec![0; variable.struct_words];
        for &(name, value) in values {
            let member = variable.members.iter().find(|member| member.0 == name);
            let (_, offset) = member.ok_or_else(|| Error::Dispatch(format!("{} has no member {name}", variable.name)))?;
            words[*offset] = value;
        }
        Ok(words)
    }

    /// Runs `workgroups` in x, y and z on `bindings`: `bindings[i]` has the 32-bit words of binding `i` of group 0, and afterwards its new
    /// words. `seed` determines the order of invocations. Errors at the first fault, or if a binding is missing or too short.
    pub fn run(&self, bindings: &mut [Vec<u32>], workgroups: [u32; 3], seed: u64) -> Result<(), Error> {
        self.machine(bindings, seed)?.finish(bindings, workgroups).map(drop)
    }

    /// Like [`Self::run`], but returns every access to a binding, in order of execution.
    pub fn trace(&self, bindings: &mut [Vec<u32>], workgroups: [u32; 3], seed: u64) -> Result<Vec<Access>, Error> {
        let machine = self.machine(bindings, seed)?;
        Machine { accesses: Some(Vec::new()), ..machine }.finish(bindings, workgroups)
    }

    fn machine(&self, bindings: &mut [Vec<u32>], seed: u64) -> Result<Machine<'_>, Error> {
        let mut shared = Vec::new();
        for variable in &self.code.shared {
            let words = match variable.binding {
                Some(binding) => take(bindings, binding, variable)?,
                None => vec![GARBAGE; variable.words],
            };
            shared.push(Shared::new(&variable.name, words, variable.binding.is_none(), variable.is_written));
        }
        Ok(Machine { code: &self.code, arithmetic: self.arithmetic, shared, accesses: None, shuffle: Shuffle::new(seed) })
    }
}

impl Machine<'_> {
    /// Runs the kernel, then moves the words back into the bindings.
    fn finish(mut self, bindings: &mut [Vec<u32>], workgroups: [u32; 3]) -> Result<Vec<Access>, Error> {
        let result = self.run(workgroups);
        for (variable, shared) in self.code.shared.iter().zip(self.shared) {
            if let Some(binding) = variable.binding {
                bindings[binding] = shared.words;
            }
        }
        result.map(|()| self.accesses.unwrap_or_default())
    }
}

/// Takes the words of a binding. Fails if there are fewer than the variable has.
fn take(bindings: &mut [Vec<u32>], binding: usize, variable: &Variable) -> Result<Vec<u32>, Error> {
    let n = bindings.get(binding).map_or(0, Vec::len);
    if n < variable.words.max(1) {
        return Err(Error::Dispatch(format!("{} has {n} words at binding {binding}, not {}", variable.name, variable.words.max(1))));
    }
    Ok(std::mem::take(&mut bindings[binding]))
}
