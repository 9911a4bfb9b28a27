//! Tests that the self-test reports a fault in any kernel. They run natively only: which faults its cases find does not depend on the
//! browser, and a browser's software GPU takes minutes to compile so many kernels.

use super::tests::{samples, windowed};
use super::*;
use crate::gpu::WrongKernel;
use crate::gpu::testing::{config, gpus};

/// For each kernel and shared part: kernel, weight type, original code, changed code, and the expected report.
const WRONG: &[(&str, Option<&str>, &str, &str, &str)] = &[
    ("gather", None, "index[p.first + id.y]", "index[id.y]", "gather"),
    ("rms_norm", None, "x[from_x + i + 3u]", "x[from_x + i + 2u]", "RMSNorm"),
    ("rms_norm_shared", None, "sum += value * value", "sum = value * value", "RMSNorm"),
    ("swiglu", None, "-max(exponent(gate), -80.0)", "max(exponent(gate), -80.0)", "SwiGLU"),
    ("embed", Some("Q8_0"), "select(0.0, x[at + 4u * j + i], adds_blend)", "0.0", "embedding (Q8_0)"),
    ("matmul", Some("Q4_K"), "four(group7, j)", "four(group6, j)", "GEMM (Q4_K)"),
    ("matmul_tiles", Some("Q4_K"), "dot(w[3], x)", "dot(w[2], x)", "GEMM (Q4_K)"),
    ("matmul", Some("Q8_0"), "<< vec4<u32>(24u", "<< vec4<u32>(23u", "GEMM (Q8_0)"),
    ("matmul_tiles", Some("Q8_0"), "<< vec4<u32>(24u", "<< vec4<u32>(23u", "GEMM (Q8_0)"),
    ("matmul", Some("IQ4_NL"), "q >= vec4<u32>(8u)", "q > vec4<u32>(8u)", "GEMM (IQ4_NL)"),
    ("matmul_tiles", Some("IQ4_XS"), "(upper << 4u)", "(upper << 3u)", "GEMM (IQ4_XS)"),
    // Flush f16 values below 2^-14 to zero, as some GPUs do.
    ("embed", Some("Q6_K"), "vec2<f32>(magnitude) * 0x1p-24", "vec2<f32>()", "embedding (Q6_K)"),
    ("matmul", Some("Q6_K"), "vec2<f32>(magnitude) * 0x1p-24", "vec2<f32>()", "GEMM (Q6_K)"),
    ("matmul_tiles", Some("Q6_K"), "vec2<f32>(magnitude) * 0x1p-24", "vec2<f32>()", "GEMM (Q6_K)"),
    // NaN must be reported.
    ("matmul", Some("Q8_0"), "if p.add == 1u {", "if p.add == 1u { y[at] = bitcast<f32>(0x7fc00000u + p.add);", "GEMM (Q8_0)"),
    ("matmul_tiles", Some("Q8_0"), "if p.add == 1u {", "if p.add == 0u {", "GEMM (Q8_0)"),
    ("matvec", Some("Q4_K"), "dot(four(group3, j)", "dot(four(group2, j)", "GEMV (Q4_K)"),
    ("matvec_shared", Some("Q4_K"), "sums[local] += sums", "sums[local] = sums", "GEMV (Q4_K)"),
    ("matvec_shared", Some("Q8_0"), "/ f32(p.dim) + p.epsilon", "+ p.epsilon", "RMSNorm + GEMV (Q8_0)"),
    ("matvec_shared", Some("Q8_0"), "gated(products.x) * products.y", "gated(products.x)", "GEMV + SwiGLU (Q8_0)"),
    // Correct in rows after the first half of the slots.
    ("matvec_shared", Some("Q4_K"), "sums[slot] + sums[slot + SLOTS]", "sums[slot]", "GEMV (Q4_K)"),
    ("qkv_rope_cache", None, "angle.y + pair.y", "angle.y - pair.y", "RoPE"),
    ("attention", None, "var slot = row.suffix_start + max", "var slot = row.suffix_start + 1u + max", "attention"),
    // Correct if there is one tile of slots.
    ("attention_step", None, "let factor = rescale(", "let factor = 1.0 + 0.0 * rescale(", "decode attention"),
    ("attention_step", None, "factor * totals[q] + total", "totals[q] + total", "decode attention"),
    ("attention_step", None, "pieces[at + 3u]", "pieces[at + 2u]", "decode attention"),
    ("attention_step", None, "normalize(local, KEY, p.head_dim,", "normalize(local, KEY, 0u,", "decode attention"),
    ("attention_step", None, "angle.y + pair.y", "angle.y - pair.y", "decode attention"),
    ("attention_step", None, "cache[own + i] = vec_of(KEY, i)", "cache[own + i] = vec_of(QUERY, i)", "decode attention"),
    ("attention_tiles", None, "factor * sum3", "sum3", "attention"),
    // Correct if there is one workgroup of queries.
    ("attention_tiles", None, "let first = id.y * QUERIES", "let first = 0u * QUERIES", "attention"),
    ("attention_mass", None, "share * share", "share", "attention mass"),
    // Correct if one invocation handles all slots.
    ("attention_mass_shared", None, "exp(largest - top)", "1.0", "attention mass"),
    // Correct if there is one tile of the vocabulary.
    ("log_sum_exp", None, "before.y * exp(before.x - largest)", "before.y", "log-sum-exp"),
    ("log_sum_exp_shared", None, "before.y * exp(before.x - largest)", "before.y", "log-sum-exp"),
    ("log_sum_exp", None, "before.z, logits", "0.0, logits", "log-sum-exp"),
    ("log_sum_exp_shared", None, "before.z, logits", "0.0, logits", "log-sum-exp"),
    ("kl_divergence", None, "(logit - logits[at + i])", "abs(logit - logits[at + i])", "KL divergence"),
    ("kl_divergence_shared", None, "(logit - logits[at + i])", "abs(logit - logits[at + i])", "KL divergence"),
    ("masked_argmax", None, " && !is_forbidden", "", "masked argmax"),
    ("top_tokens", None, "if p.token > 0u", "if p.token > 400u", "top-k"),
    ("top_tokens_shared", None, "if p.token > 0u", "if p.token > 400u", "top-k"),
    ("top_tokens", None, "entry = moved", "entry.x = moved.x", "top-k"),
    ("top_tokens_shared", None, "precedes(best[local + half], best[local])", "false", "top-k"),
    ("argmax", None, "i < p.n; i +=", "i < min(p.n, N_SLICES); i +=", "argmax"),
    ("argmax_merge", None, "value > largest", "value < largest", "argmax"),
    ("sample", None, "draw[0].random * all", "0.1 * all", "sampling"),
    ("sample", None, "Search(0u, draw[0].top_k,", "Search(0u, 1u,", "sampling"),
];

/// Kernels that only some architectures run: architecture, then kernel, original code, changed code, and the expected report.
const WRONG_IN: &[(&str, &str, &str, &str, &str)] = &[
    ("lfm2", "convolution_columns", "rows[p.first + id.y].slot", "rows[p.first].slot", "conv1d"),
    ("lfm2", "convolution", "row.suffix_end - 1u - d", "row.suffix_end - 1u", "conv1d"),
    ("lfm2", "convolution", "row.prefix_end - 1u - (d - own)", "row.prefix_end - 1u", "conv1d"),
    ("qwen35", "delta_inputs", "(row.prefix_end - 1u - (d - own)) % p.text_ring", "(row.prefix_end - 1u) % p.text_ring", "DeltaNet inputs"),
    ("qwen35", "delta_inputs", "rows[p.first + r - d].slot + d == row.slot", "rows[p.first + r - d].slot == row.slot", "DeltaNet inputs"),
    ("qwen35", "delta_inputs", "max(x, 0.0) + log", "log", "DeltaNet inputs"),
    ("qwen35", "delta_products", "s <= own; s++", "s < own; s++", "DeltaNet states"),
    ("qwen35", "delta_products", "inputs[query + v], inputs[other + v]", "inputs[key + v], inputs[other + v]", "DeltaNet outputs"),
    ("qwen35", "delta_rule", "decay_after * state[4u * i + 2u]", "state[4u * i + 2u]", "DeltaNet states"),
    ("qwen35", "delta_rule", "products[at + i] * updates[i]", "updates[i]", "DeltaNet states"),
    ("qwen35", "delta_rule_shared", "var rows = decay *", "var rows =", "DeltaNet states"),
    ("qwen35", "delta_rule_shared", "update -= products", "update += products", "DeltaNet states"),
    ("qwen35", "delta_rule", "output += q_dot_k * update", "output += update", "DeltaNet outputs"),
    ("qwen35", "delta_rule_shared", "output + q_dot_k *", "output +", "DeltaNet outputs"),
    ("qwen35", "delta_output", "norm[i] * scale * gate", "norm[i] * scale", "DeltaNet outputs"),
    ("qwen35", "ungated_queries", "id.x + gates_before", "id.x", "ungated queries"),
    ("qwen35", "attention_step", "query + p.head_dim + 4u", "query + 4u", "decode attention"),
    ("olmo2", "attention_step", "keys, p.n_kv_heads * p.head_dim", "0u, p.n_kv_heads * p.head_dim", "decode attention"),
    ("qwen35", "gated_heads", "id.x / p.head_dim + 1u", "id.x / p.head_dim", "gated attention"),
    ("qwen35", "qkv_rope_cache", "i = p.rotated_dim; i < p.head_dim", "i = p.rotated_dim; i < p.rotated_dim", "RoPE"),
    ("olmo2", "qk_norm", "p.q_width + p.k_width", "p.q_width + p.k_width - 1u", "QK-Norm"),
    ("olmo2", "qk_norm_shared", "p.q_width + p.k_width", "p.q_width + p.k_width - 1u", "QK-Norm"),
    ("olmo2", "rms_norm", "y[at] += value", "y[at] = value", "RMSNorm"),
    ("olmo2", "rms_norm_shared", "y[at] += value", "y[at] = value", "RMSNorm"),
    ("gemma3", "swiglu", "0.044715 * x", "0.0 * x", "SwiGLU"),
    ("gemma3", "attention", "max(row.position + 1u, p.window)", "max(row.position, p.window)", "attention"),
    ("gemma3", "attention_step", "max(row.position + 1u, p.window)", "max(row.position, p.window)", "decode attention"),
    ("gemma3", "attention_tiles", "max(row.position + 1u, p.window)", "max(row.position, p.window)", "attention"),
    ("gemma3", "attention_tiles", "max(own_range.x, begin) - begin", "0u", "attention"),
    ("gemma3", "attention_mass", "max(ranges[r].x, seen)", "ranges[r].x", "attention mass"),
    ("gemma3", "attention_mass_shared", "max(ranges[r].x, seen)", "ranges[r].x", "attention mass"),
];

/// Kernels above that have one source for each variant.
const HAS_VARIANTS: [&str; 4] = ["qk_norm", "rms_norm", "attention", "delta_rule"];

#[tokio::test]
async fn faulty_kernel_of_architecture_is_reported() {
    for gpu in gpus().await {
        for &(architecture, name, right, wrong, what) in WRONG_IN {
            gpu.pipelines.borrow_mut().retain(|kernel, _| kernel.name != name);
            *gpu.wrong_kernel.borrow_mut() = Some(WrongKernel { name, format: None, right, wrong, is_used: false });
            let found = first_wrong(&gpu, &windowed(architecture), &[]).await.unwrap();
            let was_used = gpu.wrong_kernel.borrow_mut().take().unwrap().is_used;
            let is_in_both = !HAS_VARIANTS.iter().any(|one| name.starts_with(one));
            assert_eq!(
                was_used,
                ["_shared", "_step", "_tiles"].iter().any(|end| name.ends_with(end)) == gpu.variant.shares_memory || is_in_both,
                "{name}"
            );
            assert_eq!(found.as_deref(), was_used.then_some(what), "{name} with {wrong} on {}", gpu.variant.name);
            gpu.pipelines.borrow_mut().retain(|kernel, _| kernel.name != name);
        }
    }
}

#[tokio::test]
async fn faulty_kernel_is_reported() {
    let samples = samples(&["Q8_0", "Q4_K", "Q6_K", "IQ4_NL", "IQ4_XS"]);
    let config = Config { dim: 200, ..config("qwen3", 6, 2, 64) };
    let mut is_used = vec![false; WRONG.len()];
    for gpu in gpus().await {
        for (i, &(name, format, right, wrong, what)) in WRONG.iter().enumerate() {
            gpu.pipelines.borrow_mut().retain(|kernel, _| kernel.name != name);
            *gpu.wrong_kernel.borrow_mut() = Some(WrongKernel { name, format, right, wrong, is_used: false });
            let found = first_wrong(&gpu, &config, &samples).await.unwrap_or_else(|error| panic!("{name} with {wrong}: {error}"));
            let was_used = gpu.wrong_kernel.borrow_mut().take().unwrap().is_used;
            assert_eq!(found.as_deref(), was_used.then_some(what), "{name} with {wrong} on {}", gpu.variant.name);
            is_used[i] |= was_used;
            gpu.pipelines.borrow_mut().retain(|kernel, _| kernel.name != name);
        }
        assert_eq!(first_wrong(&gpu, &config, &samples).await.unwrap(), None, "{}", gpu.variant.name);
    }
    let unused: Vec<_> = WRONG.iter().zip(is_used).filter(|(_, is_used)| !is_used).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
