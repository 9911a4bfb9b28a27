//! Runs WGSL compute shaders slowly and strictly on the CPU: a test tool for kernels.
//!
//! * Detects every data race: two invocations access a word without a barrier between them, and one of them writes, regardless of the
//!   order in which they run. Atomic additions do not race with each other. Between barriers, the invocations of a workgroup run one by
//!   one, in shuffled order.
//! * Reports an error if not all invocations of a workgroup reach a barrier, if an index is out of bounds, if workgroup memory is read
//!   before it is written, or if an invocation does not end.
//! * Varies floating-point arithmetic within the freedom of a GPU ([`Arithmetic`]): flushes subnormal numbers to zero, fuses products and
//!   sums or not, and adds the products of `dot` in another order. If the results of a kernel change much, the kernel relies on behavior
//!   that WGSL does not guarantee.
//!
//! It interprets naga's IR of the WGSL, which wgpu also uses. It supports what the kernels of Glasscage use. The error for anything else
//! names the unsupported feature.
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

/// Initial content of workgroup memory, which no kernel can read.
const GARBAGE: u32 = 0x7fc0_dead;

/// A compute shader whose entry point is `main`.
pub struct Kernel {
    code: Code,
    arithmetic: Arithmetic,
}

impl Kernel {
    pub fn new(wgsl: &str, arithmetic: Arithmetic) -> Result<Self, Error> {
        let module = naga::front::wgsl::parse_str(wgsl).map_err(|error| Error::Invalid(error.emit_to_string(wgsl)))?;
        // The interpreter checks at run time which invocations reach a barrier.
        let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
        let info = Validator::new(flags, Capabilities::SHADER_FLOAT16_IN_FLOAT32).validate(&module);
        let info = info.map_err(|error| Error::Invalid(error.emit_to_string(wgsl)))?;
        Ok(Self { code: compile::compile(&module, &info, wgsl, arithmetic.fuses)?, arithmetic })
    }

    /// Words of the struct at a binding, or of one element if it is an array of structs. Sets members by name, and all others to 0.
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

    /// Runs all workgroups on `bindings`, the words of each binding of group 0. `seed` determines the order of invocations.
    pub fn run(&self, bindings: &mut [Vec<u32>], workgroups: [u32; 3], seed: u64) -> Result<(), Error> {
        self.machine(bindings, seed)?.finish(bindings, workgroups).map(drop)
    }

    /// Like [`Self::run`], but returns every access to a binding.
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
