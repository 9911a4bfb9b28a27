//! Describes a shader and its constants.

use super::format::Format;
use super::variant::Variant;

/// A kernel to compile. Equal descriptions are compiled once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    /// Name of its file in `kernels/`, without the extension.
    pub name: &'static str,
    /// `const NAME = value;` before the source.
    pub constants: Vec<(&'static str, String)>,
    /// Format of the matrix that it reads.
    pub format: Option<&'static Format>,
    /// WGSL declaration of its parameters. `Recording::dispatch` sets it.
    pub params: &'static str,
    /// Items along x and y that one workgroup computes.
    pub items_per_workgroup: [usize; 2],
}

/// A compiled kernel.
pub(crate) struct Pipeline {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
    /// For profiles.
    #[cfg(not(target_arch = "wasm32"))]
    pub kernel: Kernel,
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

    /// Sets the matrix format, and the row interleaving of the variant.
    pub(crate) fn with_format(mut self, format: &'static Format, variant: &Variant) -> Self {
        self.format = Some(format);
        self.with_u32("INTERLEAVED_ROWS", variant.interleaved_rows)
    }
}

/// A faulty change to a kernel, for tests of the self-test.
#[cfg(test)]
pub(crate) struct WrongKernel {
    /// Name of the kernel to change, and optionally the only weight format to change.
    pub name: &'static str,
    pub format: Option<&'static str>,
    /// This part of the WGSL is replaced by `wrong`.
    pub right: &'static str,
    pub wrong: &'static str,
    /// Whether a changed kernel was compiled.
    pub is_used: bool,
}

#[cfg(test)]
impl WrongKernel {
    /// Returns the WGSL to compile.
    pub fn replace(&mut self, kernel: &Kernel, wgsl: &str) -> String {
        if kernel.name != self.name || self.format.is_some_and(|format| kernel.format.is_none_or(|of| of.name != format)) {
            return wgsl.into();
        }
        assert!(wgsl.contains(self.right), "{}: {}", self.name, self.right);
        self.is_used = true;
        wgsl.replace(self.right, self.wrong)
    }
}
