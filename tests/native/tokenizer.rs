//! Tokenizer ids equal llama.cpp's on every text of the oracles, and tokenizers handle any text and metadata.

use glasscage::model::gguf::{Gguf, Metadata, Value};
use glasscage::model::tokenizer::{Token, TokenId, Tokenizer, TokenizerError};
use proptest::prelude::*;

use crate::vocabulary::vocabulary;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/");

#[test]
fn gpt2_ids_match_llama_cpp() {
    let tokenizer = tokenizer_of(&vocabulary("gpt-2"));
    assert_eq!(check_cases(&tokenizer, "gpt-2"), 229);
    check_inputs_of_llama_cpp(&tokenizer, "gpt-2");
}

#[test]
fn llama3_ids_match_llama_cpp() {
    let tokenizer = tokenizer_of(&vocabulary("llama-3"));
    assert_eq!(check_cases(&tokenizer, "llama-3"), 229);
    check_inputs_of_llama_cpp(&tokenizer, "llama-3");
}

#[test]
fn qwen3_ids_match_llama_cpp() {
    let tokenizer = tokenizer_of(&vocabulary("qwen3"));
    assert_eq!(check_cases(&tokenizer, "qwen3"), 231);
    check_inputs_of_llama_cpp(&tokenizer, "qwen3");
}

#[test]
fn llama2_ids_match_llama_cpp() {
    let tokenizer = tokenizer_of(&vocabulary("llama-2"));
    assert_eq!(check_cases(&tokenizer, "llama-2"), 232);
    check_inputs_of_llama_cpp(&tokenizer, "llama-2");
}

#[test]
fn stories260k_ids_match_llama_cpp() {
    let tokenizer = tokenizer_of(&golden("stories260k/stories260k-f32.gguf"));
    assert_eq!(check_cases(&tokenizer, "stories260k"), 231);
}

#[test]
fn ids_without_space_prefix_match_sentencepiece() {
    let header = vocabulary("llama-2");
    let mut metadata = Gguf::parse(&header, header.len() as u64).unwrap().metadata;
    metadata.set("tokenizer.ggml.add_space_prefix", Value::Bool(false));
    let tokenizer = Tokenizer::from_metadata(&metadata).unwrap();
    let cases = String::from_utf8(golden("tokenizers/llama-2-no-prefix.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&cases).unwrap();
    for case in &cases {
        let (text, ids) = (case["text"].as_str().unwrap(), serde_json::from_value::<Vec<TokenId>>(case["ids"].clone()).unwrap());
        let tokens = tokenizer.encode(text);
        assert_eq!(ids_of(&tokens), ids, "{text:?}");
        assert_tiles(&tokens, text);
        assert_eq!(tokenizer.decode(&ids), text.replace('▁', " "));
    }
    assert_eq!(cases.len(), 78);
}

/// Checks lines of `{"text", "ids", "ids_bos_special"}`. Returns the number of lines.
fn check_cases(tokenizer: &Tokenizer, name: &str) -> usize {
    let lines = String::from_utf8(golden(&format!("tokenizers/{name}.jsonl"))).unwrap();
    for line in lines.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        let ids = |key: &str| serde_json::from_value::<Vec<TokenId>>(case[key].clone()).unwrap();
        let tokens = tokenizer.encode(text);
        assert_eq!(ids_of(&tokens), ids("ids"), "{text:?}");
        assert_eq!(tokenizer.encode_with_special(text), ids("ids_bos_special"), "{text:?}");
        assert_tiles(&tokens, text);
    }
    lines.lines().count()
}

/// Checks llama.cpp's own tests: texts, with a line of ids for each.
fn check_inputs_of_llama_cpp(tokenizer: &Tokenizer, name: &str) {
    let read = |file: &str| String::from_utf8(golden(&format!("tokenizers/{file}"))).unwrap();
    let (texts, lines) = (read("llama.cpp.inp"), read(&format!("{name}.out")));
    let texts: Vec<&str> = texts.split("\n__ggml_vocab_test__\n").collect();
    let ids: Vec<Vec<TokenId>> = lines.split('\n').map(|line| line.split_whitespace().map(|id| id.parse().unwrap()).collect()).collect();
    for (text, ids) in texts.iter().zip(&ids) {
        assert_eq!(ids_of(&tokenizer.encode(text)), *ids, "{text:?}");
    }
    assert_eq!((texts.len(), ids.len()), (47, 47), "all texts of llama.cpp are there");
}

fn golden(path: &str) -> Vec<u8> {
    std::fs::read([GOLDEN, path].concat()).unwrap_or_else(|error| panic!("{GOLDEN}{path}: {error}"))
}

pub fn tokenizer_of(header: &[u8]) -> Tokenizer {
    let gguf = Gguf::parse(header, header.len() as u64).unwrap();
    Tokenizer::from_metadata(&gguf.metadata).unwrap()
}

fn ids_of(tokens: &[Token]) -> Vec<TokenId> {
    tokens.iter().map(|token| token.id).collect()
}

fn assert_tiles(tokens: &[Token], text: &str) {
    let mut end = 0;
    for token in tokens {
        assert_eq!(token.span.start, end, "{text:?}");
        end = token.span.end;
    }
    assert_eq!(end, text.len(), "{text:?}");
}

#[test]
fn bytes_merge_in_list_order() {
    let tokenizer = byte_level("gpt-2");
    assert_eq!(pieces(&tokenizer, "hello world"), ["hello", " wo", "r", "l", "d"]);
}

#[test]
fn token_word_stays_whole_if_model_requests() {
    assert_eq!(pieces(&byte_level("llama-bpe"), "whole"), ["whole"]);
    assert_eq!(pieces(&byte_level("qwen2"), "whole"), ["w", "h", "o", "l", "e"]);
}

#[test]
fn digits_are_split_like_each_model() {
    for (pre, expect) in [
        ("gpt-2", vec!["1234"]),
        ("default", vec!["123", "4"]),
        ("llama-bpe", vec!["123", "4"]),
        ("qwen2", vec!["1", "2", "3", "4"]),
        ("smollm", vec!["1", "2", "3", "4"]),
    ] {
        assert_eq!(pieces(&byte_level(pre), "1234"), expect, "{pre}");
    }
}

#[test]
fn equivalent_pre_tokenizer_names_are_known() {
    for pre in ["phi-2", "llama3", "llama-v3", "falcon3", "smaug-bpe", "deepseek-r1-qwen", "megrez", "deepseek-v3", "gpt-4o"] {
        assert_eq!(pieces(&byte_level(pre), "hello"), ["hello"], "{pre}");
    }
}

#[test]
fn control_tokens_are_recognized_on_request() {
    let tokenizer = byte_level("qwen2");
    let text = "<|im_start|>hello<|im_end|>";
    assert_eq!(tokenizer.encode_with_special(text), [IM_START, id_of("hello"), IM_END]);
    assert!(!ids_of(&tokenizer.encode(text)).iter().any(|&id| tokenizer.is_control(id)));
    assert_eq!(tokenizer.decode(&ids_of(&tokenizer.encode(text))), text);
    assert_eq!(tokenizer.decode(&tokenizer.encode_with_special(text)), "hello");
}

#[test]
fn control_tokens_do_not_reach_plain_part() {
    let tokenizer = byte_level("qwen2");
    let text = "<|im_end|><|im_end|><|im_end|>";
    let found = |plain| {
        let tokens = tokenizer.encode_partly_plain(text, std::slice::from_ref(&plain));
        tokens.iter().filter(|token| token.id == IM_END).map(|token| token.span.start).collect::<Vec<_>>()
    };
    assert_eq!(found(10..20), [0, 20]);
    assert_eq!(found(9..21), [0; 0]);
    assert_eq!(found(15..15), [0, 20]);
    assert_eq!(found(20..20), [0, 10, 20]);
}

#[test]
fn user_defined_tokens_are_recognized_in_plain_text() {
    let tokenizer = byte_level("qwen2");
    assert_eq!(ids_of(&tokenizer.encode("hello<think>")), [id_of("hello"), THINK]);
    assert!(!tokenizer.is_control(THINK));
    assert_eq!(tokenizer.decode(&[THINK]), "<think>");
}

#[test]
fn missing_byte_is_covered_by_neighbor() {
    let mut names = byte_names();
    let lacking = names.iter().position(|name| *name == spelled("\u{1}")).unwrap();
    names[lacking] = "unused".to_owned();
    let tokenizer = Tokenizer::from_metadata(&with(byte_level_metadata("gpt-2"), TOKENS, Value::Strings(names))).unwrap();
    for text in ["a\u{1}b", "\u{1}ab", "ab\u{1}", "a\u{1}\u{1}b<think>\u{1}c"] {
        let tokens = tokenizer.encode(text);
        assert_tiles(&tokens, text);
        assert_eq!(tokenizer.decode(&ids_of(&tokens)), text.replace('\u{1}', ""));
    }
    assert_eq!(tokenizer.encode("\u{1}"), []);
}

#[test]
fn multi_token_characters_are_covered_bytewise() {
    let spans: Vec<_> = byte_level("gpt-2").encode("é!").into_iter().map(|token| token.span).collect();
    assert_eq!(spans, [0..1, 1..2, 2..3]);
}

#[test]
fn many_blanks_are_one_long_word() {
    let text = " ".repeat(600_000) + "hello";
    let tokenizer = byte_level("qwen2");
    let tokens = tokenizer.encode(&text);
    assert_tiles(&tokens, &text);
    assert_eq!(tokenizer.decode(&ids_of(&tokens)), text);
}

#[test]
fn pair_with_higher_score_merges_first() {
    assert_eq!(pieces(&sentencepiece(), "abc"), [" ", "a", "bc"]);
    assert_eq!(pieces(&sentencepiece(), "aaa"), [" ", "aa", "a"]);
}

#[test]
fn characters_without_token_become_bytes() {
    let tokenizer = sentencepiece();
    let tokens = tokenizer.encode("é");
    assert_eq!(ids_of(&tokens), [id_in(&SPM_PIECES, "▁"), 3 + 0xC3, 3 + 0xA9]);
    assert_eq!(tokens.iter().map(|token| token.span.clone()).collect::<Vec<_>>(), [0..0, 0..1, 1..2]);
    assert_eq!(tokenizer.decode(&ids_of(&tokens)), "é");
}

#[test]
fn space_precedes_text_and_follows_special_token() {
    let tokenizer = sentencepiece();
    let blank = id_in(&SPM_PIECES, "▁");
    let a = id_in(&SPM_PIECES, "a");
    assert_eq!(tokenizer.encode_with_special("a</s>a"), [1, blank, a, 2, blank, a]);
    assert_eq!(tokenizer.decode(&[blank, a, blank, a]), "a a");
    assert_eq!(tokenizer.decode(&[1, blank, a]), " a");
    let metadata = with(sentencepiece_metadata(), "tokenizer.ggml.add_space_prefix", Value::Bool(false));
    assert_eq!(ids_of(&Tokenizer::from_metadata(&metadata).unwrap().encode("a")), [a]);
}

#[test]
fn text_does_not_merge_into_special_tokens() {
    let tokenizer = sentencepiece();
    assert_eq!(pieces(&tokenizer, "<s>"), [" ", "<", "s>"]);
    assert!(!ids_of(&tokenizer.encode("<0x41>")).contains(&(3 + 0x41)));
}

#[test]
fn roles_come_from_metadata_or_known_names() {
    let tokenizer = byte_level("qwen2");
    assert_eq!((tokenizer.bos(), tokenizer.adds_bos(), tokenizer.eos()), (None, false, IM_END));
    let ends: Vec<TokenId> = (0..tokenizer.vocab_size() as TokenId).filter(|&id| tokenizer.is_end_of_generation(id)).collect();
    assert_eq!(ends, [END_OF_TEXT, IM_END]);
    assert!(tokenizer.is_control(END_OF_TEXT), "its name says so, its type does not");

    let tokenizer = sentencepiece();
    assert_eq!((tokenizer.bos(), tokenizer.adds_bos(), tokenizer.eos()), (Some(1), true, 2));
    assert_eq!(tokenizer.name(1), "<s>");
}

#[test]
fn eos_is_added_if_model_requests() {
    let metadata = with(byte_level_metadata("qwen2"), "tokenizer.ggml.add_eos_token", Value::Bool(true));
    let tokenizer = Tokenizer::from_metadata(&metadata).unwrap();
    assert_eq!(tokenizer.encode_with_special("hello"), [id_of("hello"), IM_END]);
    assert_eq!(tokenizer.encode_with_special(""), [IM_END]);
}

#[test]
fn unknown_ids_decode_to_nothing() {
    let tokenizer = byte_level("gpt-2");
    assert_eq!(tokenizer.bytes(TokenId::MAX), b"");
    assert_eq!(tokenizer.decode(&[TokenId::MAX, id_of("hello")]), "hello");
    assert!(!tokenizer.is_control(TokenId::MAX) && !tokenizer.is_end_of_generation(TokenId::MAX));
}

#[test]
fn invalid_metadata_is_refused() {
    let text = |text: &str| Value::String(text.to_owned());
    let texts = |texts: &[&str]| Value::Strings(texts.iter().map(|&text| text.to_owned()).collect());
    let gpt2 = || byte_level_metadata("gpt-2");
    let llama = sentencepiece_metadata;
    for (metadata, expect) in [
        (Metadata::default(), "tokens is missing"),
        (with(gpt2(), TOKENS, text("a")), "tokens is a text instead of a list of texts"),
        (with(gpt2(), TOKENS, texts(&["a", "b", "a"])), "damaged"),
        (with(gpt2(), TOKENS, texts(&[])), "damaged"),
        (with(gpt2(), TYPES, Value::Numbers(vec![1.0])), "1 entries"),
        (with(gpt2(), MODEL, text("bert")), "“bert”, which is not supported"),
        (with(gpt2(), PRE, text("kimi-k2")), "“kimi-k2”, which are not supported"),
        (with(gpt2(), TYPES, texts(&["3"; 5])), "token_type is a list of texts instead of a list of numbers"),
        (with(gpt2(), MERGES, text("a b")), "merges is a text instead of a list of texts"),
        (with(gpt2(), MERGES, texts(&["ab"])), "entry 0 of its merges"),
        (with(gpt2(), MERGES, texts(&["h e", "he nowhere"])), "entry 1 of its merges"),
        // Both are tokens, but their merge is longer than any token.
        (with(gpt2(), MERGES, texts(&["hello hello"])), "entry 0 of its merges"),
        (with(gpt2(), EOS, Value::F64(1.5)), "eos_token_id is a decimal number"),
        (with(gpt2(), "tokenizer.ggml.add_bos_token", Value::Bool(true)), "does not state which"),
        (with(gpt2(), "tokenizer.ggml.add_bos_token", Value::U64(1)), "add_bos_token is a whole number instead of true or false"),
        (with(llama(), SCORES, text("")), "scores is a text instead of a list of numbers"),
        (with(llama(), SCORES, Value::Numbers(vec![0.0; 7])), "7 entries"),
        (with(llama(), TOKENS, Value::Strings(vec!["x".repeat(5_000)])), "damaged"),
    ] {
        let error = Tokenizer::from_metadata(&metadata).err().expect(expect).to_string();
        assert!(error.contains(expect), "{error:?} does not say {expect:?}");
    }
}

#[test]
fn a_sentencepiece_vocabulary_needs_every_byte() {
    let mut names = spm_names();
    names[3 + 0x41] = "other".to_owned();
    let untyped = with(sentencepiece_metadata(), TYPES, Value::Numbers(vec![1.0; names.len()]));
    let error = Tokenizer::from_metadata(&with(untyped, TOKENS, Value::Strings(names))).err();
    assert!(matches!(error, Some(TokenizerError::NoByte(0x41))));
}

#[test]
fn byte_token_is_named_after_its_byte() {
    let all_bytes = Value::Numbers(vec![6.0; spm_names().len()]);
    let error = Tokenizer::from_metadata(&with(sentencepiece_metadata(), TYPES, all_bytes)).err();
    assert!(matches!(error, Some(TokenizerError::NotAByte(0))));
}

proptest! {
    #[test]
    fn byte_level_tokens_tile_and_decode_any_text(text in texts(), pre in prop::sample::select(&PRES[..])) {
        check_any_text(&byte_level(pre), &text)?;
    }

    #[test]
    fn sentencepiece_tokens_tile_and_decode_any_text(text in texts().prop_map(|text| text.replace('▁', "_"))) {
        check_any_text(&sentencepiece(), &text)?;
    }

    /// Any metadata gives a tokenizer or an error.
    #[test]
    fn metadata_never_panic(first in tampering(), second in tampering(), text in texts()) {
        for metadata in [byte_level_metadata("llama-bpe"), sentencepiece_metadata()] {
            let metadata = with(with(metadata, first.0, first.1.clone()), second.0, second.1.clone());
            if let Ok(tokenizer) = Tokenizer::from_metadata(&metadata) {
                let ids = tokenizer.encode_with_special(&text);
                tokenizer.decode(&ids);
            }
        }
    }
}

fn check_any_text(tokenizer: &Tokenizer, text: &str) -> Result<(), TestCaseError> {
    let tokens = tokenizer.encode(text);
    assert_tiles(&tokens, text);
    let ids = ids_of(&tokens);
    prop_assert_eq!(tokenizer.decode(&ids), text);
    prop_assert!(!ids.iter().any(|&id| tokenizer.is_control(id)));
    Ok(())
}

const PRES: [&str; 5] = ["default", "gpt-2", "llama-bpe", "qwen2", "smollm"];

/// Arbitrary characters, and texts that matter to tokenizers.
fn texts() -> impl Strategy<Value = String> {
    let pieces = [
        "<|im_end|>",
        "<|im_start",
        "|>",
        "</s>",
        "<s>",
        "<0x41>",
        "<think>",
        "hello",
        " wo",
        "12",
        "34",
        "'ll",
        "\n",
        "  ",
        "▁",
        "é",
        "aab",
    ];
    let piece = prop_oneof![3 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// A key with a value of the wrong kind.
fn tampering() -> impl Strategy<Value = (&'static str, Value)> {
    let key = prop::sample::select(vec![TOKENS, TYPES, SCORES, MERGES, MODEL, PRE, EOS, "tokenizer.ggml.bos_token_id"]);
    let value = prop_oneof![
        any::<u64>().prop_map(Value::U64),
        any::<i64>().prop_map(Value::I64),
        "[a-e<>|]{0,9}".prop_map(Value::String),
        prop::collection::vec("[a-e ]{0,3}", 0..5).prop_map(Value::Strings),
        prop::collection::vec(any::<f64>(), 0..5).prop_map(Value::Numbers),
        any::<u8>().prop_map(|length| Value::Numbers(vec![f64::NAN; usize::from(length) + 200])),
    ];
    (key, value)
}

pub const MODEL: &str = "tokenizer.ggml.model";
const PRE: &str = "tokenizer.ggml.pre";
pub const TOKENS: &str = "tokenizer.ggml.tokens";
pub const TYPES: &str = "tokenizer.ggml.token_type";
const SCORES: &str = "tokenizer.ggml.scores";
pub const MERGES: &str = "tokenizer.ggml.merges";
pub const EOS: &str = "tokenizer.ggml.eos_token_id";

/// The special tokens of [`byte_level`] follow the 256 bytes.
const END_OF_TEXT: TokenId = 256;
const IM_START: TokenId = 257;
const IM_END: TokenId = 258;
const THINK: TokenId = 259;
const SPECIALS: [&str; 4] = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>"];
const SPECIAL_TYPES: [f64; 4] = [1.0, 3.0, 3.0, 4.0];
const PIECES: [&str; 10] = ["he", "ll", "hell", "hello", "Ġw", "Ġwo", "12", "123", "1234", "whole"];
const PIECE_MERGES: [&str; 9] = ["h e", "l l", "he ll", "hell o", "Ġ w", "Ġw o", "1 2", "12 3", "123 4"];

/// A byte-level vocabulary of 270 tokens.
pub fn byte_level(pre: &str) -> Tokenizer {
    let mut metadata = byte_level_metadata(pre);
    if pre.starts_with("llama") || pre == "falcon3" {
        metadata = with(metadata, "tokenizer.ggml.bos_token_id", Value::U64(u64::from(END_OF_TEXT)));
    }
    Tokenizer::from_metadata(&metadata).unwrap()
}

pub fn byte_level_metadata(pre: &str) -> Metadata {
    let types = vec![1.0; 256].into_iter().chain(SPECIAL_TYPES).chain([1.0; PIECES.len()]);
    Metadata::from_iter([
        (MODEL, Value::String("gpt2".to_owned())),
        (PRE, Value::String(pre.to_owned())),
        (TOKENS, Value::Strings(byte_names())),
        (TYPES, Value::Numbers(types.collect())),
        (MERGES, Value::Strings(PIECE_MERGES.map(str::to_owned).to_vec())),
        (EOS, Value::U64(u64::from(IM_END))),
    ])
}

fn byte_names() -> Vec<String> {
    let bytes = (0..=255_u8).map(|byte| spelling(byte).to_string());
    bytes.chain(SPECIALS.iter().chain(&PIECES).map(|&name| name.to_owned())).collect()
}

/// GPT-2's `bytes_to_unicode`.
fn spelling(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..);
    if printable(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&byte| !printable(byte)).count();
    char::from_u32(0x100 + before as u32).unwrap()
}

fn spelled(text: &str) -> String {
    text.bytes().map(spelling).collect()
}

const SPM_PIECES: [&str; 10] = ["▁", "a", "b", "c", "ab", "bc", "aa", "<", "s", ">"];

/// A SentencePiece-style vocabulary of 272 tokens. It contains all pieces that could merge into `<s>` and `<0x41>`.
fn sentencepiece() -> Tokenizer {
    Tokenizer::from_metadata(&sentencepiece_metadata()).unwrap()
}

fn sentencepiece_metadata() -> Metadata {
    let types = [2.0, 3.0, 3.0].into_iter().chain([6.0; 256]).chain([1.0; SPM_PIECES.len() + 3]);
    let score = |name: &String| match name.as_str() {
        "bc" => -1.0,
        "ab" => -2.0,
        "aa" => -3.0,
        _ => 0.0,
    };
    Metadata::from_iter([
        (MODEL, Value::String("llama".to_owned())),
        (SCORES, Value::Numbers(spm_names().iter().map(score).collect())),
        (TOKENS, Value::Strings(spm_names())),
        (TYPES, Value::Numbers(types.collect())),
    ])
}

fn spm_names() -> Vec<String> {
    let control = ["<unk>", "<s>", "</s>"].map(str::to_owned);
    let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
    let pieces = SPM_PIECES.iter().chain(&["s>", "<0x4", "1>"]).map(|&name| name.to_owned());
    control.into_iter().chain(bytes).chain(pieces).collect()
}

fn id_of(piece: &str) -> TokenId {
    THINK + 1 + PIECES.iter().position(|&name| name == piece).unwrap() as TokenId
}

fn id_in(pieces: &[&str], piece: &str) -> TokenId {
    259 + pieces.iter().position(|&name| name == piece).unwrap() as TokenId
}

/// Metadata with one value replaced.
fn with(metadata: Metadata, key: &str, value: Value) -> Metadata {
    let keys = [MODEL, PRE, TOKENS, TYPES, SCORES, MERGES, EOS, "tokenizer.ggml.bos_token_id"];
    let kept = keys.into_iter().filter(|&other| other != key);
    kept.filter_map(|key| Some((key, metadata.get(key)?.clone()))).chain([(key, value)]).collect()
}

/// Text of each token of a text.
fn pieces(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
    tokenizer.encode(text).iter().map(|token| String::from_utf8_lossy(tokenizer.bytes(token.id)).into_owned()).collect()
}
