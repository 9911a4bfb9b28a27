//! Sentence splitting equals NLTK on every text of the oracle, and is consistent on arbitrary text.

use std::ops::Range;

use glasscage::explanation::Language;
use glasscage::text::languages::language_of;
use glasscage::text::sentences::{parameters_of, sentences, sentences_in, sentences_in_any_script, tile};
use proptest::prelude::*;

type Rule = fn(&str) -> Vec<Range<usize>>;

const PUNKT: [Rule; 2] = [sentences, |text| sentences_in(text, parameters_of(Language::German))];
const ANY_SCRIPT: [Rule; 4] = [
    |text| sentences_in_any_script(text, Language::English),
    |text| sentences_in_any_script(text, Language::German),
    |text| sentences_in_any_script(text, Language::French),
    |text| sentences_in_any_script(text, Language::Chinese),
];

#[test]
fn sentences_match_nltk() {
    let cases = include_str!("../golden/punkt/cases.jsonl");
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        let found: Vec<[usize; 2]> = sentences(text).into_iter().map(|s| code_points(text, s)).collect();
        let expect: Vec<[usize; 2]> = serde_json::from_value(case["sentences"].clone()).unwrap();
        assert_eq!(found, expect, "{text:?}");
    }
    assert_eq!(cases.lines().count(), 1_288);
}

/// NLTK with the words that the splitter keeps, which are fewer than NLTK's own.
#[test]
fn sentences_of_other_languages_match_nltk() {
    let cases = cases_of_languages();
    for Case { language, text, sentences } in &cases {
        let found: Vec<[usize; 2]> = sentences_in(text, parameters_of(*language)).into_iter().map(|s| code_points(text, s)).collect();
        assert_eq!(found, *sentences, "{text:?}");
    }
    let count = |language| cases.iter().filter(|case| case.language == language).count();
    assert_eq!(Language::ALL.map(count), [0, 338, 87, 80, 80, 80, 88, 0, 0]);
}

/// A line of `languages.jsonl`.
#[derive(serde::Deserialize)]
struct Case {
    language: Language,
    text: String,
    sentences: Vec<[usize; 2]>,
}

fn cases_of_languages() -> Vec<Case> {
    let lines = include_str!("../golden/punkt/languages.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn two_lines_identify_language_or_none() {
    let cases = cases_of_languages();
    let pairs: Vec<&[Case]> = cases.chunk_by(|a, b| a.language == b.language).flat_map(|same| same.chunks_exact(2)).collect();
    let is_told = |pair: &&[Case]| {
        let text = format!("{} {}", pair[0].text, pair[1].text);
        let found = language_of(&text);
        assert!(found == pair[0].language || found.is_english(), "{found:?}: {text}");
        !found.is_english()
    };
    let n_told = pairs.iter().copied().filter(is_told).count();
    assert!(n_told * 10 >= pairs.len() * 9, "{n_told} of {}", pairs.len());
}

/// Prompts that were collected to test the built-in model.
#[test]
fn user_prompts_identify_language_or_none() {
    let files = [include_str!("../golden/demo/out-of-scope-dev.jsonl"), include_str!("../golden/demo/out-of-scope-test.jsonl")];
    let mut n_told = 0;
    for line in files.iter().flat_map(|file| file.lines()) {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let [topic, prompt] = ["topic", "prompt"].map(|key| case[key].as_str().unwrap());
        let language = language_of(prompt);
        let expected = match topic {
            "german" => Language::German,
            "french" => Language::French,
            "spanish" => Language::Spanish,
            // They include Chinese, Japanese and Portuguese, and German for translation.
            "other_languages" | "translation" => continue,
            _ => Language::English,
        };
        assert!(language == expected || language.is_english(), "{language:?}: {prompt}");
        n_told += usize::from(!language.is_english());
    }
    assert!(n_told >= 23, "{n_told} of 30");
}

#[test]
fn english_texts_are_recognized() {
    let mut others = Vec::new();
    for line in include_str!("../golden/punkt/cases.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        others.extend((!language_of(text).is_english()).then(|| text.to_owned()));
    }
    // These two are not English.
    assert_eq!(others, ["日本語。テスト。 English. 日本語. 次.", "Él vino. ¿Qué pasa? Nada."]);
}

/// A byte range in code points, as NLTK counts.
fn code_points(text: &str, bytes: Range<usize>) -> [usize; 2] {
    [bytes.start, bytes.end].map(|at| text[..at].chars().count())
}

/// Python's `str.isspace`.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

/// Arbitrary characters, and texts of characters that matter to the algorithm.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        ".",
        ".",
        "?",
        "!",
        "...",
        "…",
        ",",
        ";",
        "--",
        "-",
        "(",
        ")",
        "[",
        "]",
        "\"",
        "'",
        "“",
        "”",
        "*",
        "**",
        "_",
        "`",
        "```",
        "$$",
        "[1]",
        "](u)",
        "<b>",
        "<br>",
        "1. ",
        "2. ",
        "- ",
        "|",
        "|---|",
        " ",
        " ",
        " ",
        "\n",
        "\r\n",
        "\t",
        "\u{a0}",
        "\u{1c}",
        "\u{200b}",
        "\u{feff}",
        "Mr",
        "U.S",
        "e.g.",
        "fig.",
        "。",
        "」",
        "J",
        "5",
        "1.5",
        "##number##",
        "However",
        "letters",
        "Émile",
        "İ",
        "ß",
        "日本",
        "😀",
    ]);
    prop_oneof![any::<String>(), prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn sentences_are_ordered_with_white_space_between(text in texts()) {
        for rule in PUNKT.into_iter().chain(ANY_SCRIPT) {
            let mut end = 0;
            for sentence in rule(&text) {
                prop_assert!(end <= sentence.start && sentence.start < sentence.end);
                prop_assert!(text[end..sentence.start].chars().all(is_space));
                prop_assert!(text[sentence.clone()].ends_with(|c| !is_space(c)));
                end = sentence.end;
            }
            prop_assert!(text[end..].chars().all(is_space));
        }
    }

    #[test]
    fn a_newline_ends_a_sentence_of_punkt(text in texts()) {
        for rule in PUNKT {
            prop_assert!(rule(&text).into_iter().all(|sentence| !text[sentence].contains('\n')));
        }
    }

    #[test]
    fn several_sentences_each_have_letters_or_digits(text in texts()) {
        let has_any = |text: &str| text.contains(char::is_alphanumeric);
        for rule in ANY_SCRIPT {
            let found = rule(&text);
            prop_assert_eq!(found.is_empty(), text.chars().all(is_space));
            prop_assert!(found.len() <= 1 || found.into_iter().all(|sentence| has_any(&text[sentence])));
        }
    }

    #[test]
    fn every_byte_is_in_exactly_one_tile(text in texts()) {
        let sentences = sentences(&text);
        let tiles = tile(&text, &sentences);
        prop_assert_eq!(tiles.len(), sentences.len());
        for (tile, sentence) in tiles.iter().zip(&sentences) {
            prop_assert!(tile.start <= sentence.start && sentence.end <= tile.end);
        }
        let joined: String = tiles.into_iter().map(|tile| &text[tile]).collect();
        prop_assert!(joined == text || sentences.is_empty());
    }

    #[test]
    fn lines_are_independent(first in texts(), second in texts()) {
        let offset = first.len() + 1;
        for rule in PUNKT {
            let mut apart = rule(&first);
            apart.extend(rule(&second).into_iter().map(|s| s.start + offset..s.end + offset));
            prop_assert_eq!(rule(&format!("{first}\n{second}")), apart);
        }
    }
}
