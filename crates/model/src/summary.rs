//! Facts from the first kilobytes of a model file, before the rest is downloaded.

use super::arch;
use super::arch::Architecture;
use super::config::{ConfigError, KvHeads, check_layers, of_all_layers};
use super::gguf::{Gguf, Metadata};
use super::quant;
use super::tokenizer::Tokenizer;
use glasscage_message::message;

/// Unsupported quantizations, by the id that the header states (`general.file_type`, llama.cpp's `llama_ftype`).
const UNREADABLE_KINDS: &[(u64, &str)] = &[
    (19, "IQ2_XXS"),
    (20, "IQ2_XS"),
    (22, "IQ3_XS"),
    (23, "IQ3_XXS"),
    (24, "IQ1_S"),
    (26, "IQ3_S"),
    (27, "IQ3_M"),
    (28, "IQ2_S"),
    (29, "IQ2_M"),
    (31, "IQ1_M"),
    (36, "TQ1_0"),
    (37, "TQ2_0"),
    (38, "MXFP4"),
];

/// Facts from the beginning of a model file.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSummary {
    pub architecture: &'static str,
    pub name: Option<String>,
    pub license: Option<String>,
    pub parameters: Option<u64>,
    /// Context length of the model, in tokens.
    pub context_length: u64,
    /// Bytes that the layers keep of one token, as f32: mostly keys and values.
    pub bytes_per_token: u64,
}

impl ModelSummary {
    /// Reads the beginning of a file. Sizes that come later in the file count as 0.
    ///
    /// Errors if these bytes already show that this version cannot run the model.
    pub fn of(bytes: &[u8]) -> Result<Self, ConfigError> {
        let metadata = Gguf::leading_metadata(bytes)?;
        let name = metadata.str("general.architecture")?.ok_or(ConfigError::NoArchitecture)?;
        let architecture = arch::by_name(name).ok_or_else(|| ConfigError::Architecture(name.to_owned()))?;
        let kind = metadata.u64("general.file_type")?;
        if let Some((_, kind)) = UNREADABLE_KINDS.iter().find(|(id, _)| kind == Some(*id)) {
            let names = quant::names();
            return Err(ConfigError::Impossible(message!("its weights are of the type {kind}; supported are {names}")));
        }
        Tokenizer::check_names(&metadata)?;
        Ok(Self {
            architecture: architecture.name,
            name: metadata.shown("general.name"),
            license: metadata.shown("general.license"),
            parameters: metadata.u64("general.parameter_count").ok().flatten(),
            context_length: metadata.u64(&format!("{name}.context_length"))?.unwrap_or(0),
            bytes_per_token: bytes_per_token(&metadata, architecture)?.unwrap_or(0),
        })
    }
}

/// 4 bytes x 2 (keys and values) x layers x KV heads x head width, plus a row of numbers in layers without attention.
fn bytes_per_token(metadata: &Metadata, architecture: &Architecture) -> Result<Option<u64>, ConfigError> {
    let number = |field: &str| metadata.u64(&format!("{}.{field}", architecture.name));
    let (key_length, dim) = (number("attention.key_length")?, number("embedding_length")?);
    let unused = number("nextn_predict_layers")?.unwrap_or(0);
    let Some(n_layers) = number("block_count")?.map(|n| n.saturating_sub(unused)) else {
        return Ok(None);
    };
    let layers = usize::try_from(n_layers).unwrap_or(usize::MAX);
    check_layers(layers)?;
    let heads = of_all_layers(metadata, &format!("{}.attention.head_count", architecture.name), layers)?;
    let KvHeads { n: kv_heads, recurrence } = KvHeads::read(metadata, architecture, layers)?;
    let width = key_length.or_else(|| dim?.checked_div(heads?));
    let recurrent = recurrence.map_or(0, |recurrence| recurrence.layers.iter().filter(|&&is_there| is_there).count() as u64);
    let product = |factors: &[Option<u64>]| factors.iter().try_fold(4_u64, |product, factor| product.checked_mul((*factor)?));
    let keys_values = product(&[Some(2), heads.and(Some(n_layers - recurrent)), kv_heads.map(|n| n as u64).or(heads), width]);
    Ok(keys_values.and_then(|bytes| bytes.checked_add(product(&[Some(recurrent), dim.or(Some(0))])?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMO: &[u8] = include_bytes!("../../../tests/fixtures/models/demo.gguf");

    #[test]
    fn the_first_kilobytes_tell_what_a_model_is() {
        let summary = ModelSummary::of(&DEMO[..16_384]).unwrap();
        assert_eq!((summary.architecture, summary.name.as_deref()), ("qwen3", Some("Glasscage demo")));
        let gguf = Gguf::parse(DEMO, DEMO.len() as u64).unwrap();
        let config = crate::config::Config::from_gguf(&gguf).unwrap();
        assert_eq!(summary.context_length, config.context_length as u64);
        assert_eq!(summary.bytes_per_token, config.bytes_per_token());
    }

    #[test]
    fn impossible_number_of_layers_is_refused_before_memory_is_taken() {
        for architecture in ["gemma3", "qwen35", "lfm2", "qwen3"] {
            let mut header = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0".to_vec();
            let text = |header: &mut Vec<u8>, text: &str| {
                header.extend((text.len() as u64).to_le_bytes());
                header.extend(text.as_bytes());
            };
            text(&mut header, "general.architecture");
            header.extend(8_u32.to_le_bytes());
            text(&mut header, architecture);
            text(&mut header, &format!("{architecture}.block_count"));
            header.extend(10_u32.to_le_bytes());
            for layers in [0, 1 << 40, u64::MAX] {
                let error = ModelSummary::of(&[&header[..], &layers.to_le_bytes()].concat()).unwrap_err().to_string();
                assert!(error.contains("number of layers"), "{architecture} {layers}: {error}");
            }
        }
    }

    #[test]
    fn unsupported_model_is_rejected_by_header() {
        let mut other = DEMO[..16_384].to_vec();
        let at = other.windows(5).position(|window| window == b"qwen3").unwrap();
        other[at..at + 5].copy_from_slice(b"bloom");
        let error = ModelSummary::of(&other).unwrap_err().to_string();
        assert!(error.contains("bloom") && error.contains("llama, qwen2, qwen3"), "{error}");
        let mut rules = DEMO[..16_384].to_vec();
        let key = b"tokenizer.ggml.pre";
        let at = rules.windows(key.len()).position(|window| window == key).unwrap();
        // After the type and the length of the value.
        rules[at + key.len() + 12] = b'?';
        let error = ModelSummary::of(&rules).unwrap_err().to_string();
        assert!(error.contains("are not supported"), "{error}");
        assert!(ModelSummary::of(b"<!doctype html><html>").unwrap_err().to_string().contains("not a GGUF"));
        assert!(ModelSummary::of(b"GG").is_err() && ModelSummary::of(b"").is_err());
    }
}
