//! Builds GGUF headers from arbitrary fields. They are well-formed more often than random bytes, so that the code after the parser is
//! also reached.

use arbitrary::{Arbitrary, Result, Unstructured};

/// Keys that the engine reads, so that more than their absence is tested.
const KEYS: [&str; 34] = [
    "general.architecture",
    "general.name",
    "general.file_type",
    "general.alignment",
    "split.no",
    "split.count",
    "llama.block_count",
    "llama.context_length",
    "llama.embedding_length",
    "llama.feed_forward_length",
    "llama.attention.head_count",
    "llama.attention.head_count_kv",
    "llama.attention.key_length",
    "llama.attention.layer_norm_rms_epsilon",
    "llama.rope.dimension_count",
    "llama.rope.freq_base",
    "llama.rope.scaling.type",
    "llama.rope.scaling.factor",
    "llama.attention.sliding_window",
    "llama.expert_count",
    "tokenizer.ggml.model",
    "tokenizer.ggml.pre",
    "tokenizer.ggml.tokens",
    "tokenizer.ggml.scores",
    "tokenizer.ggml.token_type",
    "tokenizer.ggml.merges",
    "tokenizer.ggml.bos_token_id",
    "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.unknown_token_id",
    "tokenizer.ggml.padding_token_id",
    "tokenizer.ggml.add_bos_token",
    "tokenizer.ggml.add_eos_token",
    "tokenizer.ggml.add_space_prefix",
    "tokenizer.chat_template",
];
/// Texts with a meaning for the engine.
const TEXTS: [&str; 13] = [
    "llama",
    "qwen2",
    "qwen3",
    "gpt2",
    "default",
    "llama-bpe",
    "smollm",
    "<|im_end|>",
    "<s>",
    "</s>",
    "<0x0A>",
    "\u{2581}a",
    "{{ messages[0].content }}",
];
const TENSORS: [&str; 12] = [
    "token_embd.weight",
    "output.weight",
    "output_norm.weight",
    "blk.0.attn_norm.weight",
    "blk.0.attn_q.weight",
    "blk.0.attn_k.weight",
    "blk.0.attn_v.weight",
    "blk.0.attn_output.weight",
    "blk.0.ffn_norm.weight",
    "blk.0.ffn_gate.weight",
    "blk.0.ffn_up.weight",
    "blk.0.ffn_down.weight",
];

/// A header with arbitrary values and tensors, followed by some zeros.
pub fn header(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let n_values = u.int_in_range(0..=24_u64)?;
    let n_tensors = u.int_in_range(0..=12_u64)?;
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(u.choose(&[3_u32, 3, 3, 2, 1])?.to_le_bytes());
    bytes.extend(n_tensors.to_le_bytes());
    bytes.extend(n_values.to_le_bytes());
    for _ in 0..n_values {
        let key = name(u, &KEYS)?;
        text(&mut bytes, &key);
        value(u, &mut bytes)?;
    }
    for _ in 0..n_tensors {
        let name = name(u, &TENSORS)?;
        text(&mut bytes, &name);
        let n_dimensions = u.int_in_range(0..=4)?;
        bytes.extend(u32::to_le_bytes(n_dimensions));
        for _ in 0..n_dimensions {
            bytes.extend(number(u)?.to_le_bytes());
        }
        bytes.extend(u.int_in_range(0..=40_u32)?.to_le_bytes());
        bytes.extend((32 * u64::from(u8::arbitrary(u)?)).to_le_bytes());
    }
    bytes.resize(bytes.len() + usize::from(u16::arbitrary(u)?), 0);
    Ok(bytes)
}

/// Often a known name.
fn name(u: &mut Unstructured<'_>, known: &[&str]) -> Result<String> {
    if u.ratio(15, 16)? { Ok((*u.choose(known)?).to_owned()) } else { String::arbitrary(u) }
}

/// Often a small number, otherwise any.
fn number(u: &mut Unstructured<'_>) -> Result<u64> {
    if u.ratio(7, 8)? { Ok(*u.choose(&[1, 2, 4, 8, 32, 64, 256, 97])?) } else { u64::arbitrary(u) }
}

/// A value with the type number of the format.
fn value(u: &mut Unstructured<'_>, bytes: &mut Vec<u8>) -> Result<()> {
    let kind = u.int_in_range(0..=13_u32)?;
    bytes.extend(kind.to_le_bytes());
    if kind == 9 {
        let kind = u.int_in_range(0..=12_u32)?;
        let count = u.int_in_range(0..=300_u64)?;
        bytes.extend(kind.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        return (0..count).try_for_each(|_| scalar(u, kind, bytes));
    }
    scalar(u, kind, bytes)
}

fn scalar(u: &mut Unstructured<'_>, kind: u32, bytes: &mut Vec<u8>) -> Result<()> {
    match kind {
        0 | 1 => bytes.push(u8::arbitrary(u)?),
        7 => bytes.push(u8::from(bool::arbitrary(u)?)),
        2 | 3 => bytes.extend(u16::arbitrary(u)?.to_le_bytes()),
        4 | 5 => bytes.extend((number(u)? as u32).to_le_bytes()),
        6 => bytes.extend(f32::arbitrary(u)?.to_le_bytes()),
        8 => {
            let written = name(u, &TEXTS)?;
            text(bytes, &written);
        }
        10 | 11 => bytes.extend(number(u)?.to_le_bytes()),
        12 => bytes.extend(f64::arbitrary(u)?.to_le_bytes()),
        _ => bytes.extend(u.bytes(4)?),
    }
    Ok(())
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}
