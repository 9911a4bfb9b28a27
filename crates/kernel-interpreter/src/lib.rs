//! Runs compute shaders in WGSL slowly and strictly, on the processor: a test tool for kernels.
//!
//! * Data races are found exactly: two invocations that use a word with no barrier between, one of them writing, whatever happened to
//!   come first. Atomic additions are no race among each other. Between barriers the invocations of a workgroup run one by one, in
//!   shuffled order.
//! * A barrier that not all invocations of a workgroup come to, an index out of bounds, workgroup memory read before it is written, and
//!   an invocation that does not end are errors.
//! * Floating-point arithmetic does what WGSL leaves to a GPU ([`Arithmetic`]): subnormal numbers flushed to zero, products and sums
//!   fused or not, products of `dot` added in another order. A kernel whose results change much relies on what nobody promises.
//!
//! It interprets what naga makes of the WGSL, as wgpu does, and knows what the kernels of Glasscage use; anything else is an error that
//! names it.
//!
//! ```
//! use kernel_interpreter::{Arithmetic, Kernel};
//!
//! let kernel = Kernel::new(
//!     "@group(0) @binding(0) var<storage, read_write> x: array<f32>;
//!      @compute @workgroup_size(4)
//!      fn main(@builtin(global_invocation_id) id: vec3<u32>) { x[id.x] *= 2.0; }",
//!     Arithmetic::PLAIN,
//! )?;
//! let mut bindings = [[1_f32, 2.0, 3.0, 4.0].map(f32::to_bits).to_vec()];
//! kernel.run(&mut bindings, [1, 1, 1], 1)?;
//! assert_eq!(bindings[0][3], 8_f32.to_bits());
//! # Ok::<(), kernel_interpreter::Error>(())
//! ```

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

/// What workgroup memory holds before it is written, which no kernel gets to see.
const GARBAGE: u32 = 0x7fc0_dead;

/// A compute shader whose entry point is `main`.
pub struct Kernel {
    code: Code,
    arithmetic: Arithmetic,
}

impl Kernel {
    pub fn new(wgsl: &str, arithmetic: Arithmetic) -> Result<Self, Error> {
        let module = naga::front::wgsl::parse_str(wgsl).map_err(|error| Error::Invalid(error.emit_to_string(wgsl)))?;
        // Which invocations come to a barrier is seen when they do.
        let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
        let info = Validator::new(flags, Capabilities::SHADER_FLOAT16_IN_FLOAT32).validate(&module);
        let info = info.map_err(|error| Error::Invalid(error.emit_to_string(wgsl)))?;
        Ok(Self { code: compile::compile(&module, &info, wgsl, arithmetic.fuses)?, arithmetic })
    }

    /// The words of the struct at a binding, or of one element of its structs, from members by name; those not named are 0.
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

    /// Runs all workgroups on `bindings`, the words of each binding of group 0; `seed` decides the order of invocations.
    pub fn run(&self, bindings: &mut [Vec<u32>], workgroups: [u32; 3], seed: u64) -> Result<(), Error> {
        self.machine(bindings, seed)?.finish(bindings, workgroups).map(drop)
    }

    /// As [`Self::run`]; returns every access to a binding.
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
    /// Runs, and gives the bindings their words back.
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

/// The words of a binding, which have to be as many as the variable has.
fn take(bindings: &mut [Vec<u32>], binding: usize, variable: &Variable) -> Result<Vec<u32>, Error> {
    let n = bindings.get(binding).map_or(0, Vec::len);
    if n < variable.words.max(1) {
        return Err(Error::Dispatch(format!("{} has {n} words at binding {binding}, not {}", variable.name, variable.words.max(1))));
    }
    Ok(std::mem::take(&mut bindings[binding]))
}
