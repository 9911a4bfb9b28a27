//! Lists every kernel of the engine as complete WGSL, for tests, shader compilers and other tools.

use super::format::FORMATS;
use super::kernel::Kernel;
use super::kernels::{
    argmax, attention, attention_mass, attention_step, bandwidth_probe, convolution, convolution_columns, delta_inputs, delta_output,
    delta_rule, embed, fma_probe, gated_heads, gather, kl_divergence, log_sum_exp, masked_argmax, matmul, qk_norm, qkv_rope_cache,
    rms_norm, sample, swiglu, top_tokens, ungated_queries,
};
use super::shapes::{STEP_SHAPES, TILE_SHAPES, VECTOR_SHAPES};
use super::variant::Variant;
use glasscage_model::arch::{ARCHITECTURES, Gate};

/// Head sizes for which kernels are listed. For other models, the engine makes kernels with other sizes.
pub const HEAD_DIMS: [usize; 2] = [64, 128];

/// A kernel in the form that a compiler receives.
pub struct Shader {
    /// Unique in its variant: kernel name, tensor type, and the constants that distinguish it from other kernels of that name, as in
    /// `attention_mass_shared.Q_LENGTH=128u.VECS=32u`.
    pub name: String,
    pub wgsl: String,
}

/// All kernels of a variant, for every tensor type and architecture, and for the head sizes [`HEAD_DIMS`].
pub fn shaders(variant: &Variant) -> Vec<Shader> {
    let kernels = kernels(variant);
    kernels.iter().map(|kernel| Shader { name: name_among(&kernels, kernel), wgsl: kernel.wgsl() }).collect()
}

fn kernels(variant: &Variant) -> Vec<Kernel> {
    let vecs = HEAD_DIMS.map(|head_dim| head_dim / 4);
    let mut kernels = vec![
        qk_norm::kernel(variant),
        gather::kernel(),
        convolution::kernel(),
        delta_inputs::kernel(),
        delta_output::kernel(),
        gated_heads::kernel(),
        ungated_queries::kernel(),
        log_sum_exp::kernel(variant),
        kl_divergence::kernel(variant),
        masked_argmax::kernel(),
        top_tokens::kernel(variant),
        sample::kernel(),
        fma_probe::kernel(),
        bandwidth_probe::kernel(),
    ];
    kernels.extend([false, true].map(|add| rms_norm::kernel(variant, add)));
    kernels.extend([Gate::Silu, Gate::Gelu].map(swiglu::kernel));
    kernels.extend([false, true].map(convolution_columns::kernel));
    kernels.extend(vecs.map(|vecs| delta_rule::kernel(variant, vecs)));
    kernels.extend(vecs.map(delta_rule::products_kernel));
    kernels.extend(argmax::kernels());
    kernels.extend(FORMATS.iter().map(|format| embed::kernel(variant, format)));
    for format in FORMATS {
        for gate in [None, Some(Gate::Silu), Some(Gate::Gelu)] {
            for is_normed in [false, true] {
                kernels.extend(VECTOR_SHAPES.iter().map(|shape| matmul::step_kernel(variant, shape, is_normed, gate, format)));
            }
        }
        kernels.extend(TILE_SHAPES.iter().map(|shape| matmul::kernel(variant, shape, format)));
    }
    kernels.extend(ARCHITECTURES.iter().map(qkv_rope_cache::kernel));
    for has_window in [false, true] {
        kernels.extend(vecs.map(|vecs| attention::kernel(variant, vecs, has_window)));
        kernels.extend(vecs.map(|vecs| attention_mass::kernel(variant, vecs, has_window)));
        if matmul::computes_all_of_a_step(variant, true) {
            for shape in STEP_SHAPES {
                let of_step = |architecture| vecs.map(|vecs| attention_step::kernel(architecture, vecs, has_window, shape));
                kernels.extend(ARCHITECTURES.iter().flat_map(of_step));
            }
        }
    }
    // Several architectures share a kernel.
    let is_first = |i: &usize| !kernels[..*i].contains(&kernels[*i]);
    (0..kernels.len()).filter(is_first).map(|i| kernels[i].clone()).collect()
}

fn name_among(kernels: &[Kernel], kernel: &Kernel) -> String {
    let format = kernel.format.map(|format| format.name.to_owned());
    let namesakes = || kernels.iter().filter(|other| other.name == kernel.name);
    let set = kernel.constants.iter().filter(|(_, value)| value != "false");
    let distinguishing = set.filter(|constant| namesakes().any(|other| !other.constants.contains(constant)));
    let constants = distinguishing.map(|(name, value)| format!("{name}={value}"));
    let words: Vec<String> = std::iter::once(kernel.name.to_owned()).chain(format).chain(constants).collect();
    words.join(".")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::kernels::SOURCES;
    use super::super::variant::VARIANTS;
    use super::*;

    #[test]
    fn every_source_has_kernel() {
        let listed: BTreeSet<&str> = VARIANTS.iter().flat_map(kernels).map(|kernel| kernel.name).collect();
        assert_eq!(listed, SOURCES.iter().map(|source| source.0).collect());
    }

    #[test]
    fn names_are_unique_in_variant() {
        for variant in VARIANTS {
            let shaders = shaders(variant);
            let names: BTreeSet<&String> = shaders.iter().map(|shader| &shader.name).collect();
            assert_eq!(names.len(), shaders.len(), "{names:?}");
        }
    }

    #[test]
    fn name_distinguishes_kernels_of_same_source() {
        let names: Vec<String> = shaders(&VARIANTS[1]).into_iter().map(|shader| shader.name).collect();
        for name in [
            "swiglu",
            "matmul_tiles.Q4_K.ROWS=8u.TOKENS=4u",
            "matvec_shared.Q4_K.NORMED=true.ROWS=2u",
            "attention_mass_shared.Q_LENGTH=128u.VECS=32u",
        ] {
            assert!(names.iter().any(|other| other == name), "{name} is not in {names:?}");
        }
    }
}
