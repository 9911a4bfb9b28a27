//! Names that determine the role of a token, even if the metadata differ.

/// Names at which generation stops, even if the metadata differ: llama.cpp's `special_eog_ids`, without the names of tokenizers that are
/// not supported here (o200k, Gemma, Solar).
pub const END_NAMES: &[&str] = &[
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<eos>",
    "<end_of_utterance>",
    // Fill in the middle: padding, next repository, next file.
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<PAD>",
    "[PAD]",
    "<|fim_repo|>",
    "<|repo_name|>",
    "<fim-repo>",
    "<REPO>",
    "<reponame>",
    "<|file_sep|>",
];

/// Names that, like [`END_NAMES`], make a token a control token even if its type differs, as in llama.cpp.
const CONTROL_NAMES: &[&str] = &[
    "<|fim_prefix|>",
    "<fim-prefix>",
    "<fim_prefix>",
    "<|code_prefix|>",
    "<|prefix|>",
    "<|fim_suffix|>",
    "<fim-suffix>",
    "<fim_suffix>",
    "<|code_suffix|>",
    "<|suffix|>",
    "<|fim_middle|>",
    "<fim-middle>",
    "<fim_middle>",
    "<|code_middle|>",
    "<|middle|>",
    "<PRE>",
    "<SUF>",
    "<MID>",
];

/// Whether a token of this name is a control token even if its type differs.
pub fn is_named_like_control(name: &str) -> bool {
    END_NAMES.contains(&name) || CONTROL_NAMES.contains(&name)
}
