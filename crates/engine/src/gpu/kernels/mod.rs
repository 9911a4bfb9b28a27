//! The kernels. Each kernel has a WGSL file, and a Rust file of the same name with its parameters, buffers, dispatch, a plain reference,
//! and tests against it.
//!
//! A kernel with a neighbor named `_shared` or `_tiles` has two variants; see [`super::variant`]. `_common` files contain code that
//! variants share.

pub mod argmax;
pub mod attention;
pub mod attention_mass;
pub mod attention_step;
pub mod bandwidth_probe;
pub mod convolution;
pub mod convolution_columns;
pub mod delta_inputs;
pub mod delta_output;
pub mod delta_rule;
pub mod embed;
pub mod fma_probe;
pub mod gated_heads;
pub mod gather;
pub mod kl_divergence;
pub mod log_sum_exp;
pub mod masked_argmax;
pub mod matmul;
pub mod qk_norm;
pub mod qkv_rope_cache;
pub mod rms_norm;
pub mod sample;
pub mod swiglu;
pub mod top_tokens;
pub mod ungated_queries;

use super::batch::Row;
use super::buffer::Buffer;
use super::kernel::Kernel;
use super::wgsl::source;
use sample::GpuDraw;

macro_rules! sources {
    ($($name:literal),* $(,)?) => { &[$(($name, source!($name))),*] };
}

/// Kernels by name.
pub(super) const SOURCES: &[(&str, &str)] = sources![
    "argmax",
    "argmax_merge",
    "attention",
    "attention_mass",
    "attention_mass_shared",
    "attention_step",
    "attention_tiles",
    "bandwidth_probe",
    "convolution",
    "convolution_columns",
    "delta_inputs",
    "delta_output",
    "delta_products",
    "delta_rule",
    "delta_rule_shared",
    "embed",
    "fma_probe",
    "gated_heads",
    "gather",
    "kl_divergence",
    "kl_divergence_shared",
    "log_sum_exp",
    "log_sum_exp_shared",
    "masked_argmax",
    "matmul",
    "matmul_tiles",
    "matvec",
    "matvec_shared",
    "qk_norm",
    "qk_norm_shared",
    "qkv_rope_cache",
    "rms_norm",
    "rms_norm_shared",
    "sample",
    "swiglu",
    "top_tokens",
    "top_tokens_shared",
    "ungated_queries",
];

/// Sources that kernels may `#import`, in addition to their own `params`: see [`Kernel::wgsl`].
pub(super) const IMPORTS: &[(&str, &str)] = &[
    ("attention_common", source!("attention_common")),
    ("attention_mass_common", source!("attention_mass_common")),
    ("attention_query", source!("attention_query")),
    ("attention_slots", source!("attention_slots")),
    ("delta_rule_common", source!("delta_rule_common")),
    ("delta_tokens", source!("delta_tokens")),
    ("draw", GpuDraw::WGSL),
    ("gate", source!("gate")),
    ("iq4_values", source!("quant/iq4_values")),
    ("kl_divergence_common", source!("kl_divergence_common")),
    ("log_sum_exp_common", source!("log_sum_exp_common")),
    ("matmul_common", source!("matmul_common")),
    ("nibbles", source!("quant/nibbles")),
    ("online_softmax", source!("online_softmax")),
    ("qk_norm_common", source!("qk_norm_common")),
    ("reduce", source!("reduce")),
    ("rms_norm_common", source!("rms_norm_common")),
    ("rope", source!("rope")),
    ("row", Row::WGSL),
    ("scales_k4", source!("quant/scales_k4")),
    ("top_tokens_common", source!("top_tokens_common")),
    ("weights", source!("quant/weights")),
];

/// Invocations of a one-dimensional workgroup.
const LINE: usize = 64;
/// Maximum number of invocations of a workgroup on every adapter.
const MAX_INVOCATIONS: usize = 256;
/// Size of a two-dimensional workgroup along x and y. The shaders say `@workgroup_size(WIDTH, 4)`.
const WIDTH: usize = 16;
const HEIGHT: usize = 4;

/// A kernel with one invocation per item along x.
fn one_dimensional(name: &'static str) -> Kernel {
    Kernel::new(name, [LINE, 1]).with_u32("WIDTH", LINE)
}

/// A kernel with one invocation per item along x and y.
fn two_dimensional(name: &'static str) -> Kernel {
    Kernel::new(name, [WIDTH, HEIGHT]).with_u32("WIDTH", WIDTH)
}

/// A kernel with one workgroup per item.
fn workgroup_per_item(name: &'static str) -> Kernel {
    Kernel::new(name, [1, 1]).with_u32("WIDTH", LINE)
}

/// The rows of a buffer, starting at row `first`: `[first + .., stride]`.
#[derive(Clone, Copy)]
pub struct RowView<'a> {
    pub buffer: &'a Buffer,
    pub first: usize,
    /// Distance from one row to the next, in f32 values.
    pub stride: usize,
}

impl<'a> RowView<'a> {
    /// All rows.
    pub fn new(buffer: &'a Buffer, stride: usize) -> Self {
        Self { buffer, first: 0, stride }
    }

    /// Starts at row `first`.
    pub fn starting_at(self, first: usize) -> Self {
        Self { first, ..self }
    }
}

/// Length of a row of floats in memory: `length` rounded up to 16, because weights come in groups of 16.
pub fn padded(length: usize) -> usize {
    super::format::groups(length) * super::format::GROUP
}
