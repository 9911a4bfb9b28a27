//! The kernels: each a WGSL file, and a Rust file of the same name with what it takes and a plain twin in its tests.
//!
//! A kernel with a `_shared` or `_tiles` neighbour has two variants; see [`super::variant`].

pub mod add_up;
pub mod argmax;
pub mod attended;
pub mod attention;
pub mod best;
pub mod divergence;
pub mod embed;
pub mod fma;
pub mod gather;
pub mod heads;
pub mod log_sum_exp;
pub mod matmul;
pub mod rms_norm;
pub mod sample;
pub mod swiglu;

macro_rules! sources {
    ($($name:literal),*) => { &[$(($name, include_str!(concat!($name, ".wgsl")))),*] };
}

/// Kernels by name.
pub(super) const SOURCES: &[(&str, &str)] = sources![
    "add_up",
    "argmax",
    "argmax_parts",
    "attended",
    "attention",
    "attention_shared",
    "best",
    "divergence",
    "divergence_shared",
    "embed",
    "fma",
    "gather",
    "heads",
    "log_sum_exp",
    "log_sum_exp_shared",
    "matmul",
    "matmul_tiles",
    "matvec",
    "matvec_shared",
    "rms_norm",
    "rms_norm_shared",
    "sample",
    "swiglu"
];

/// What they may `#import`.
pub(super) const IMPORTS: &[(&str, &str)] = &[
    ("attention_params", include_str!("attention_params.wgsl")),
    ("divergence_params", include_str!("divergence_params.wgsl")),
    ("log_sum_exp_params", include_str!("log_sum_exp_params.wgsl")),
    ("matmul_params", include_str!("matmul_params.wgsl")),
    ("reduce", include_str!("reduce.wgsl")),
    ("rms_norm_params", include_str!("rms_norm_params.wgsl")),
    ("row", include_str!("row.wgsl")),
    ("scales_k4", include_str!("quant/scales_k4.wgsl")),
    ("weights", include_str!("quant/weights.wgsl")),
];

/// Invocations of a workgroup: in a line, and in a rectangle.
const LINE: usize = 64;
const WIDTH: usize = 16;
const HEIGHT: usize = 4;

use super::kernel::Kernel;

/// A kernel with one invocation for each item of a line.
fn line(name: &'static str) -> Kernel {
    Kernel::new(name, [LINE, 1]).number("WIDTH", LINE)
}

/// A kernel with one workgroup for each item of a line.
fn workgroup_each(name: &'static str) -> Kernel {
    Kernel::new(name, [1, 1]).number("WIDTH", LINE)
}

/// A kernel with one invocation for each item of a rectangle.
fn rectangle(name: &'static str) -> Kernel {
    Kernel::new(name, [WIDTH, HEIGHT]).number("WIDTH", WIDTH)
}

/// Rows of floats padded so that a whole group of weights always meets values: `length` rounded up to 16.
pub fn padded(length: usize) -> usize {
    super::format::groups(length) * super::format::GROUP
}
