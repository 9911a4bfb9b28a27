//! Which shader is dispatched, and with which constants.

use super::format::Format;
use super::variant::Variant;

/// A kernel as it is to be compiled; the same description is compiled once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    /// Its file in `kernels/`.
    pub name: &'static str,
    /// `const NAME = value;` before the source.
    pub constants: Vec<(&'static str, String)>,
    /// Of the matrix that it reads.
    pub format: Option<&'static Format>,
    /// The declaration of its parameters in WGSL; a dispatch sets it.
    pub params: &'static str,
    /// Items along x and y that one workgroup computes.
    pub items_per_workgroup: [usize; 2],
}

/// A compiled kernel.
pub(crate) struct Pipeline {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
}

impl Kernel {
    pub(crate) fn new(name: &'static str, items_per_workgroup: [usize; 2]) -> Self {
        Self { name, constants: Vec::new(), format: None, params: "", items_per_workgroup }
    }

    pub(crate) fn with_u32(mut self, name: &'static str, value: usize) -> Self {
        self.constants.push((name, format!("{value}u")));
        self
    }

    pub(crate) fn with_bool(mut self, name: &'static str, value: bool) -> Self {
        self.constants.push((name, value.to_string()));
        self
    }

    pub(crate) fn with_params(mut self, params: &'static str) -> Self {
        self.params = params;
        self
    }

    /// For a matrix of this format, as it lies in the memory of an adapter.
    pub(crate) fn with_format(mut self, format: &'static Format, variant: &Variant) -> Self {
        self.format = Some(format);
        self.with_u32("INTERLEAVED_ROWS", variant.interleaved_rows)
    }
}

/// What makes a kernel compute something else, for tests of the self-test.
#[cfg(test)]
pub(crate) struct WrongKernel {
    /// The kernel, or the import of several; where it reads weights, of any type or of one.
    pub name: &'static str,
    pub format: Option<&'static str>,
    /// This part of the WGSL becomes another.
    pub right: &'static str,
    pub wrong: &'static str,
    /// Whether a kernel was compiled wrong.
    pub is_used: bool,
}

#[cfg(test)]
impl WrongKernel {
    /// The WGSL to compile.
    pub fn replace(&mut self, kernel: &Kernel, wgsl: &str) -> String {
        if kernel.name != self.name || self.format.is_some_and(|format| kernel.format.is_none_or(|of| of.name != format)) {
            return wgsl.into();
        }
        assert!(wgsl.contains(self.right), "{}: {}", self.name, self.right);
        self.is_used = true;
        wgsl.replace(self.right, self.wrong)
    }
}
