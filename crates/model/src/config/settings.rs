//! Settings of a model other than its sizes: constants, which must be in a valid range, and settings that require a computation that is not
//! supported.
//!
//! Keys and their meaning: llama.cpp, `llama_model_base::load_hparams` and the architecture's file in src/models. Its converter writes a
//! setting of [`NOT_COMPUTED`] only for an architecture that reads it.

use std::ops::RangeInclusive;

use super::by_layer::common;
use super::error::ConfigError;
use crate::arch::Architecture;
use crate::gguf::{Metadata, Value};

/// Models have 1e-6 or 1e-5.
const NORM_EPSILONS: RangeInclusive<f64> = 1e-12..=0.1;
/// Models have 1e4 to 1e7.
const ROPE_BASES: RangeInclusive<f64> = 1.0..=1e12;
/// Divisor of all positions (linear scaling, 1 to 16), or of one frequency (Llama 3, 1 to 32).
pub const ROPE_FACTORS: RangeInclusive<f64> = 1e-2..=1e4;

/// Settings that would change the model's computation, each with the values at which it changes nothing. True counts as 1.
///
/// `attention.sliding_window` is not in this list, because llama.cpp's graphs of these architectures have no window and do not read the
/// key. The configurations of Qwen2 and its descendants contain it, but `use_sliding_window` turns it off. A pattern lists the layers that
/// use it.
const NOT_COMPUTED: &[(&str, &[f64])] = &[
    ("attention.causal", &[1.0]),
    ("attention.sliding_window_pattern", &[0.0]),
    ("attention.scale", &[0.0]),
    ("attention.clamp_kqv", &[0.0]),
    ("attention.max_alibi_bias", &[0.0]),
    ("attn_logit_softcapping", &[0.0]),
    ("final_logit_softcapping", &[0.0]),
    ("logit_scale", &[0.0, 1.0]),
    ("embedding_scale", &[0.0, 1.0]),
    ("residual_scale", &[0.0, 1.0]),
    ("expert_count", &[0.0]),
    ("nextn_predict_layers", &[0.0]),
    ("use_parallel_residual", &[0.0]),
    ("rope.scaling.attn_factor", &[0.0, 1.0]),
];

/// Range of factors in a model: models have 0.005 to 100.
const SCALES: RangeInclusive<f64> = 1e-6..=1e6;

/// Tokens that a model must not generate: llama.cpp sets their probability to 0.
const SUPPRESSED: &str = "tokenizer.ggml.suppress_tokens";

/// Errors if a model requires a computation that is not supported.
pub fn check(metadata: &Metadata, architecture: &Architecture) -> Result<(), ConfigError> {
    if metadata.get(SUPPRESSED).is_some_and(|tokens| !matches!(tokens, Value::Numbers(tokens) if tokens.is_empty())) {
        return Err(ConfigError::Setting(SUPPRESSED.into()));
    }
    let name = architecture.name;
    let asks = |(field, neutral): &&(&str, &[f64])| match metadata.get(&format!("{name}.{field}")) {
        None => false,
        Some(_) if architecture.reads.contains(field) => false,
        Some(value) => number(value).is_none_or(|number| !neutral.contains(&number)),
    };
    match NOT_COMPUTED.iter().find(asks) {
        Some((field, _)) => Err(ConfigError::Setting(format!("{name}.{field}"))),
        None => Ok(()),
    }
}

/// A number, or the number that all layers share.
fn number(value: &Value) -> Option<f64> {
    match value {
        &Value::U64(number) => Some(number as f64),
        &Value::I64(number) => Some(number as f64),
        &Value::F64(number) => Some(number),
        &Value::Bool(flag) => Some(f64::from(u8::from(flag))),
        Value::Numbers(by_layer) => common(by_layer),
        Value::String(_) | Value::Strings(_) => None,
    }
}

/// The epsilon that is added to the mean square before its root.
pub fn norm_epsilon(metadata: &Metadata, architecture: &str) -> Result<f64, ConfigError> {
    let key = format!("{architecture}.attention.layer_norm_rms_epsilon");
    constant(metadata, &key, &NORM_EPSILONS)?.ok_or(ConfigError::Missing(key))
}

/// Base of the rotary frequencies.
pub fn rope_base(metadata: &Metadata, architecture: &str) -> Result<f64, ConfigError> {
    Ok(constant(metadata, &format!("{architecture}.rope.freq_base"), &ROPE_BASES)?.unwrap_or(10_000.0))
}

/// Base of the rotary frequencies in layers with a window.
pub fn window_rope_base(metadata: &Metadata, architecture: &str) -> Result<f64, ConfigError> {
    Ok(constant(metadata, &format!("{architecture}.rope.freq_base_swa"), &ROPE_BASES)?.unwrap_or(10_000.0))
}

/// A factor in the model; `None` if its architecture does not read it, or if it is zero.
pub fn scale(metadata: &Metadata, architecture: &Architecture, field: &str) -> Result<Option<f64>, ConfigError> {
    let key = format!("{}.{field}", architecture.name);
    match metadata.f64(&key)? {
        Some(number) if architecture.reads.contains(&field) && number != 0.0 => constant(metadata, &key, &SCALES),
        _ => Ok(None),
    }
}

/// Whether no layer rotates. Granite files state it by a key that has no meaning in other files (llama.cpp, src/models/granite.cpp).
pub fn is_unrotated(metadata: &Metadata, architecture: &Architecture) -> Result<bool, ConfigError> {
    const KEY: &str = "rope.scaling.finetuned";
    let finetuned = metadata.bool(&format!("{}.{KEY}", architecture.name))?;
    Ok(architecture.reads.contains(&KEY) && finetuned == Some(false))
}

/// Divisor for linear scaling of positions. Llama 3's scheme is in the tensor `rope_freqs.weight` instead.
pub fn rope_scale(metadata: &Metadata, architecture: &str) -> Result<f64, ConfigError> {
    let factor = |field: &str| constant(metadata, &format!("{architecture}.rope.{field}"), &ROPE_FACTORS);
    match metadata.str(&format!("{architecture}.rope.scaling.type"))? {
        Some("none") => Ok(1.0),
        // A factor alone means linear, as in llama.cpp. Old files have the second key.
        None | Some("linear") => Ok(factor("scaling.factor")?.or(factor("scale_linear")?).unwrap_or(1.0)),
        Some(other) => Err(ConfigError::RopeScaling(other.to_owned())),
    }
}

/// A number that must be in `range`; `None` if the file does not have it.
fn constant(metadata: &Metadata, key: &str, range: &RangeInclusive<f64>) -> Result<Option<f64>, ConfigError> {
    match metadata.f64(key)? {
        Some(value) if !range.contains(&value) => Err(ConfigError::Absurd { key: key.to_owned(), value }),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::by_name;

    fn all(pairs: &[(&str, Value)]) -> Result<[f64; 3], String> {
        let epsilon = ("llama.attention.layer_norm_rms_epsilon", Value::F64(1e-5));
        let metadata = Metadata::from_iter([epsilon].into_iter().chain(pairs.iter().cloned()));
        let read = || {
            check(&metadata, by_name("llama").unwrap())?;
            Ok::<_, ConfigError>([norm_epsilon(&metadata, "llama")?, rope_base(&metadata, "llama")?, rope_scale(&metadata, "llama")?])
        };
        read().map_err(|error| error.to_string())
    }

    #[test]
    fn constants_that_cannot_be_right_are_refused_by_name() {
        let absurd = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, 1e-300, -1.0, 0.0];
        for field in ["attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.scaling.factor", "rope.scale_linear"] {
            for value in absurd {
                let key = format!("llama.{field}");
                let refused = all(&[(&key, Value::F64(value))]).unwrap_err();
                assert!(refused.contains(&format!("{key} is {value}, which is not valid")), "{refused}");
            }
            assert!(
                all(&[(&format!("llama.{field}"), Value::String("1e-5".into()))]).unwrap_err().contains("is a text instead of a number")
            );
        }
    }

    #[test]
    fn unsupported_setting_is_rejected_by_name() {
        for (field, value) in [
            ("attention.causal", Value::Bool(false)),
            ("attention.scale", Value::F64(0.015_625)),
            ("attention.sliding_window_pattern", Value::Numbers(vec![1.0, 0.0])),
            ("logit_scale", Value::F64(0.0625)),
            ("expert_count", Value::U64(8)),
            ("final_logit_softcapping", Value::F64(f64::NAN)),
        ] {
            let refused = all(&[(&format!("llama.{field}"), value)]).unwrap_err();
            assert!(refused.contains(&format!("llama.{field}")), "{refused}");
        }
        let suppressed = ("tokenizer.ggml.suppress_tokens", Value::Numbers(vec![7.0]));
        assert!(all(&[suppressed]).unwrap_err().contains("tokenizer.ggml.suppress_tokens"));
    }

    #[test]
    fn an_architecture_reads_what_others_refuse() {
        let [llama, granite] = ["llama", "granite"].map(|name| by_name(name).unwrap());
        let metadata = |name: &str, value: f64| Metadata::from_iter([(format!("{name}.residual_scale").as_str(), Value::F64(value))]);
        assert!(check(&metadata("llama", 0.22), llama).is_err());
        assert!(check(&metadata("granite", 0.22), granite).is_ok());
        let read = |value: f64| scale(&metadata("granite", value), granite, "residual_scale").map_err(|error| error.to_string());
        assert_eq!((read(0.22), read(0.0)), (Ok(Some(0.22)), Ok(None)));
        assert!(read(-1.0).unwrap_err().contains("granite.residual_scale is -1, which is not valid"));
        assert!(read(f64::NAN).is_err());
    }

    #[test]
    fn converter_output_is_read() {
        let written = [
            ("llama.attention.causal", Value::Bool(true)),
            ("llama.attention.sliding_window", Value::U64(4096)),
            ("llama.expert_count", Value::U64(0)),
            ("llama.attention.sliding_window_pattern", Value::Numbers(vec![0.0, 0.0])),
            ("tokenizer.ggml.suppress_tokens", Value::Numbers(Vec::new())),
            ("llama.rope.freq_base", Value::F64(500_000.0)),
            ("llama.rope.scaling.type", Value::String("linear".into())),
            ("llama.rope.scaling.factor", Value::U64(4)),
        ];
        assert_eq!(all(&written), Ok([1e-5, 500_000.0, 4.0]));
        assert_eq!(all(&[]), Ok([1e-5, 10_000.0, 1.0]));
        assert_eq!(all(&[("llama.rope.scale_linear", Value::F64(2.0))]).unwrap()[2], 2.0);
    }
}
