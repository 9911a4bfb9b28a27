//! Rules by which models split text into words: one row per set of rules.
//!
//! Names, patterns and flags are those of llama.cpp's llama-vocab.cpp (`llama_vocab::impl::load` and `llm_tokenizer_bpe`, as in
//! llama-cpp-python 0.3.36), with two differences. [`GPT2`] there ends at `\s+(?!\S)`; its hand-written matcher continues with `|\s+`, as
//! here. [`TEKKEN`] and [`O200K`] there are only approximations, because that matcher does not distinguish upper and lower case; here they
//! are as in the models' own `tokenizer.json`. Neither llama.cpp nor this code normalizes texts; Qwen's own tokenizers compose characters
//! first (NFC).
//!
//! The table omits rules that are more than patterns (`kimi-k2`, `afmoe`, `chameleon`), rules that do not encode bytes as characters
//! (`gemma4`, `sarvam-moe`, `whitespace`), and names of models that only make embeddings.

use tokenizers::utils::SysRegex;

use super::error::TokenizerError;

/// Rules that split text into words. The patterns are applied in order, each to the words that the previous ones left. Text between the
/// matches of a pattern becomes separate words.
pub struct PreTokenizer {
    /// Names in `tokenizer.ggml.pre`.
    pub names: &'static [&'static str],
    pub patterns: &'static [&'static str],
    /// Whether a word that is a token becomes that token, regardless of its merges (`ignore_merges`).
    pub whole_words_first: bool,
    pub adds_bos: bool,
}

const fn row(names: &'static [&'static str], patterns: &'static [&'static str]) -> PreTokenizer {
    PreTokenizer { names, patterns, whole_words_first: false, adds_bos: false }
}

impl PreTokenizer {
    const fn whole_words_first(self) -> Self {
        Self { whole_words_first: true, ..self }
    }

    const fn adding_bos(self) -> Self {
        Self { adds_bos: true, ..self }
    }
}

/// All supported rules.
pub const PRE_TOKENIZERS: &[PreTokenizer] = &[
    row(&["default"], &[r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"]),
    row(&["gpt-2", "phi-2", "mpt", "olmo", "jais", "exaone4", "gigachat", "a.x-4.0", "mellum", "trillion", "granite-docling"], &[GPT2]),
    row(&["llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"], &[LLAMA3])
        .whole_words_first()
        .adding_bos(),
    row(&["smaug-bpe", "dbrx", "chatglm-bpe"], &[LLAMA3]),
    row(&["glm4", "glm5"], &[LLAMA3]).whole_words_first(),
    row(&["qwen2", "deepseek-r1-qwen", "kormo", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"], &[QWEN2]),
    row(&["qwen35"], &[QWEN35]),
    row(&["smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"], &[r"\p{N}", GPT2]),
    row(&["tekken"], &[TEKKEN]).whole_words_first().adding_bos(),
    row(&["gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"], &[O200K]),
    row(&["tiny_aya", "cohere2moe"], &[r"\d{1,3}(?=(?:\d{3})*\b)", O200K]),
    row(&["deepseek-llm"], &["[\r\n]", DEEPSEEK_LLM_LETTERS, DEEPSEEK_LLM_MARKS, r"\s+$", CJK, r"\p{N}+"]),
    row(&["deepseek-coder"], &["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK, r"\p{N}"]),
    row(&["deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"], &[r"\p{N}{1,3}", HAN_AND_KANA, DEEPSEEK_V3]),
    row(&["spark2_5"], &[r"\p{N}{1,3}", HAN_AND_KANA, SPARK, r"\p{N}"]),
    row(&["youtu"], &[YOUTU_SCRIPTS, YOUTU]).whole_words_first(),
    row(&["falcon"], &[r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"]),
    row(&["poro-chat", "bloom", "gpt3-finnish"], &[BLOOM]),
    row(&["viking"], &[BLOOM, r"\p{N}"]),
    row(&["jais-2"], &[JAIS2]),
    row(&["minicpm5"], &[r"\p{N}{1,3}", MINICPM5]).whole_words_first(),
    row(&["seed-coder"], &[SEED_CODER]),
    row(&["superbpe"], &[r"\p{N}+", r"(?=(\d{3})+(?!\d))"]),
    row(&["bailingmoe", "bailingmoe2", "llada-moe"], &[BAILING]),
    row(&["exaone-moe"], &[EXAONE_MOE]),
    row(&["ufakzeka"], &[UFAKZEKA]),
    row(&["laguna"], &[r"[^\n]+|[\n]+", QWEN2]),
];

/// The row of this name.
pub fn by_name(name: &str) -> Result<&'static PreTokenizer, TokenizerError> {
    let row = PRE_TOKENIZERS.iter().find(|row| row.names.contains(&name));
    row.ok_or_else(|| {
        let known: Vec<&str> = PRE_TOKENIZERS.iter().map(|row| row.names[0]).collect();
        TokenizerError::PreTokenizer { name: name.to_owned(), known: known.join(", ") }
    })
}

/// The compiled patterns of a row.
pub struct Splitter(Vec<SysRegex>);

impl Splitter {
    pub fn new(row: &PreTokenizer) -> Self {
        Self(row.patterns.iter().map(|pattern| SysRegex::new(pattern).expect("the patterns of the table are valid")).collect())
    }

    /// The words of a text. Together they are the text.
    pub fn words<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let split = |words: Vec<&'t str>, pattern| words.into_iter().flat_map(|word| isolate(pattern, word)).collect();
        self.0.iter().fold(vec![text], split)
    }
}

/// The matches of a pattern and the text between them. If the pattern engine gives up (at about a hundred thousand consecutive blanks), the
/// rest of the text is one word.
fn isolate<'t>(pattern: &SysRegex, text: &'t str) -> Vec<&'t str> {
    let mut words = Vec::new();
    let mut end = 0;
    for (start, next) in pattern.find_iter(text) {
        words.extend([&text[end..start], &text[start..next]]);
        end = next;
    }
    words.push(&text[end..]);
    words.retain(|word| !word.is_empty());
    words
}

/// Contractions, words, digits by this pattern, punctuation and blanks.
macro_rules! words_and_digits {
    ($digits:literal) => {
        concat!(
            r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|",
            $digits,
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    };
}

/// Words that begin at a capital letter and may have this ending, digits by this pattern, punctuation and blanks.
macro_rules! cased_words {
    ($ending:literal, $digits:literal) => {
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
            $ending,
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
            $ending,
            "|",
            $digits,
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    };
}

/// Words with an optional symbol before them, symbols, line ends by this pattern, and blanks.
macro_rules! words_after_symbols {
    ($line_ends:literal) => {
        concat!(
            r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+"##,
            $line_ends,
            r"|\s+(?!\S)|\s+"
        )
    };
}

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Up to three digits per word.
const LLAMA3: &str = words_and_digits!(r"\p{N}{1,3}");

/// One digit per word.
const QWEN2: &str = words_and_digits!(r"\p{N}");

/// Combining marks belong to letters.
const QWEN35: &str = concat!(
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}",
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Mistral's rules of 2024: a capital letter begins a word.
const TEKKEN: &str = cased_words!("", r"\p{N}");

/// GPT-4o's rules: like [`TEKKEN`], with contractions, and up to three digits per word.
const O200K: &str = cased_words!(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?", r"\p{N}{1,3}");

/// Letters that have upper and lower case in the Unicode version of its time.
const DEEPSEEK_LLM_LETTERS: &str = concat!(
    r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼι",
    r"ῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃",
    r"]+"
);

const DEEPSEEK_LLM_MARKS: &str = "\\s?[!-/:-~\u{ff01}-\u{ff0f}\u{ff1a}-\u{ff5e}\u{2018}-\u{201f}\u{3000}-\u{3002}]+";

const CJK: &str = "[\u{4e00}-\u{9fa5}\u{800}-\u{4e00}\u{ac00}-\u{d7ff}]+";

const HAN_AND_KANA: &str = "[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]+";

const DEEPSEEK_V3: &str = words_after_symbols!(r"[\r\n]*|\s*[\r\n]+");

/// One line end per word.
const SPARK: &str = words_after_symbols!(r"|[\r\n]");

const YOUTU_SCRIPTS: &str = concat!(
    "[\u{ac00}-\u{d7a3}\u{3131}-\u{318e}]+|[\u{ff01}\u{2026}\u{201c}\u{201d}\u{2018}\u{2019}\u{2014}",
    "\u{ff1a}\u{ff1b}\u{ff0c}\u{3001}-\u{303f}\u{fe30}-\u{fe4f}]+|[\u{3105}-\u{312f}]+",
    "|[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]+"
);

/// Like [`O200K`], with one digit per word.
const YOUTU: &str = cased_words!(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?", r"\p{N}");

const BLOOM: &str = r" ?[^(\s|.,!?…。，、।۔،)]+";

/// Blanks are grouped in powers of two.
const JAIS2: &str = concat!(
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)",
    r"|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}"
);

/// Digits stay as the pattern before it left them.
const MINICPM5: &str = words_and_digits!(r"\p{N}+");

/// Line ends do not belong to the punctuation before them.
const SEED_CODER: &str = concat!(
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}",
    r"| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
);

const BAILING: &str =
    concat!(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*", r"|\s*[\r\n]|\s+(?!\S)|\s+");

/// Several words, separated by single spaces, count as one.
const EXAONE_MOE: &str = concat!(
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
);

/// Like [`QWEN2`] without contractions, because Turkish has other endings after an apostrophe.
const UFAKZEKA: &str = concat!(r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}", r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+");

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = include_str!("../../../../tests/golden/tokenizers/pre-tokenizers.json");

    #[test]
    fn texts_are_split_as_hugging_face_splits_them() {
        let golden: serde_json::Value = serde_json::from_str(GOLDEN).unwrap();
        let texts: Vec<&str> = golden["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        for row in PRE_TOKENIZERS {
            let splitter = Splitter::new(row);
            let expected = golden["lengths"][row.names[0]].as_array().unwrap_or_else(|| panic!("{} is in no oracle", row.names[0]));
            assert_eq!(expected.len(), texts.len());
            for (text, expected) in texts.iter().zip(expected) {
                let words = splitter.words(text);
                let lengths: Vec<String> = words.iter().map(|word| word.len().to_string()).collect();
                assert_eq!(lengths.join(" "), expected.as_str().unwrap(), "{}: {text:?} {words:?}", row.names[0]);
            }
        }
    }

    #[test]
    fn every_name_stands_in_one_row() {
        let mut names: Vec<&str> = PRE_TOKENIZERS.iter().flat_map(|row| row.names).copied().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
