//! The threshold of support, on recorded answers of SmolLM2-135M-Instruct: fitted on the answers to one half of the texts, tested on the
//! others. The threshold of citations, on recorded sentences of the same model.

#![cfg(not(target_arch = "wasm32"))]

use std::collections::BTreeSet;

use glasscage_core::explanation::{CitationState, Document, Group, citations};
use glasscage_core::shares::LITTLE_SUPPORT;
use serde_json::{Value, json};

const ANSWERS: &str = include_str!("../../../tests/golden/support/answers.jsonl");
/// The fit that the documentation describes.
const FIT: &str = include_str!("../../../tests/golden/support/fit.json");
/// Lines about the same text are neighbors.
const PROMPTS_OF_A_TEXT: usize = 3;
/// Words of answers that say that the text does not answer the question. Such answers are left out.
const REFUSALS: [&str; 5] = ["not mention", "not provide", "not specif", "no information", "not state"];

/// An answer whose origin is known.
#[derive(Debug)]
struct Answer {
    /// Whether the text answers the question, and the answer has a word of the right one.
    is_supported: bool,
    /// Support of the sentence with this word, or else of the first one, in nats.
    support: f64,
}

/// The answers to the questions about every second text, from `first` on.
fn answers(first: usize) -> Vec<Answer> {
    let of_half = |number: usize| number / PROMPTS_OF_A_TEXT % 2 == first;
    ANSWERS.lines().enumerate().filter(|(number, _)| of_half(*number)).filter_map(|(_, line)| answer(line)).collect()
}

/// `None` for refusals, for wrong answers to questions that the text answers, and for sentences that repeat something else of the text.
fn answer(line: &str) -> Option<Answer> {
    let line: Value = serde_json::from_str(line).expect("a line is JSON");
    let texts = |field: &str| line[field].as_array().expect("a list").iter().map(|text| text.as_str().expect("a text").to_owned());
    let (sentences, words): (Vec<String>, Vec<String>) = (texts("sentences").collect(), texts("words").collect());
    let is_supported = line["kind"] == "asked";
    let has = |words: &[String]| {
        let contains = |sentence: &String| words.iter().any(|word| sentence.to_lowercase().contains(&word.to_lowercase()));
        sentences.iter().position(contains)
    };
    let judged = match is_supported {
        true => has(&words)?,
        false if has(&REFUSALS.map(String::from)).is_some() => return None,
        false => 0,
    };
    let [text, question] = ["text", "question"].map(|field| content_words(line[field].as_str().expect("a text")));
    let after_first = sentences[judged].split_once(' ').map_or("", |(_, rest)| rest);
    let repeated = &(&content_words(after_first) & &text) - &question;
    let support = line["support"][judged].as_f64().expect("a number");
    (is_supported || repeated.is_empty()).then_some(Answer { is_supported, support })
}

/// Numbers, capitalized words and words of at least five letters, in lowercase.
fn content_words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let has_content =
        |word: &&str| word.len() >= 5 || word.len() >= 2 && word.starts_with(char::is_uppercase) || word.starts_with(char::is_numeric);
    words.filter(has_content).map(str::to_lowercase).collect()
}

/// The fractions of supported answers at or above `threshold`, and of unsupported answers below it.
fn recalls(answers: &[Answer], threshold: f64) -> [f64; 2] {
    [true, false].map(|is_supported| {
        let of_class: Vec<&Answer> = answers.iter().filter(|answer| answer.is_supported == is_supported).collect();
        let right = of_class.iter().filter(|answer| (answer.support >= threshold) == is_supported).count();
        right as f64 / of_class.len() as f64
    })
}

fn balanced_accuracy(answers: &[Answer], threshold: f64) -> f64 {
    recalls(answers, threshold).iter().sum::<f64>() / 2.0
}

/// The threshold with the largest balanced accuracy: the middle of the widest gap between two neighboring supports that has it.
fn fitted(answers: &[Answer]) -> f64 {
    let mut supports: Vec<f64> = answers.iter().map(|answer| answer.support).collect();
    supports.sort_by(f64::total_cmp);
    let gaps = supports.windows(2).map(|gap| ((gap[0] + gap[1]) / 2.0, gap[1] - gap[0]));
    let key = |(middle, width): &(f64, f64)| (balanced_accuracy(answers, *middle), *width);
    gaps.max_by(|a, b| key(a).partial_cmp(&key(b)).expect("numbers")).expect("answers").0
}

/// What the documentation says of "Nothing in the prompt supports this" on these answers.
fn figures(answers: &[Answer], threshold: f64) -> Value {
    let count = |is_supported: bool| answers.iter().filter(|answer| answer.is_supported == is_supported).count();
    let said: Vec<&Answer> = answers.iter().filter(|answer| answer.support < threshold).collect();
    let right = said.iter().filter(|answer| !answer.is_supported).count();
    let rounded = |fraction: f64| (fraction * 100.0).round() / 100.0;
    json!({
        "supported": count(true),
        "unsupported": count(false),
        "said": said.len(),
        "right": right,
        "precision": rounded(right as f64 / said.len() as f64),
        "recall": rounded(recalls(answers, threshold)[1]),
    })
}

#[test]
fn threshold_is_fitted_on_one_half_and_tested_on_other() {
    let (fitting, testing) = (answers(0), answers(1));
    let best = fitted(&fitting);
    assert!((best - LITTLE_SUPPORT).abs() <= 0.05, "fitted {best}, in the code {LITTLE_SUPPORT}");
    assert_eq!(balanced_accuracy(&fitting, LITTLE_SUPPORT), balanced_accuracy(&fitting, best), "rounding changes no decision");
    let found = json!({
        "threshold": LITTLE_SUPPORT,
        "fitted": figures(&fitting, LITTLE_SUPPORT),
        "tested": figures(&testing, LITTLE_SUPPORT),
    });
    let recorded: Value = serde_json::from_str(FIT).expect("JSON");
    assert_eq!(found, recorded, "tests/golden/support/fit.json: {found:#}");
}

/// The states of the citations [1], [2] and [3] in a sentence with these effects, one after the other.
fn states(effects: &Value) -> Vec<CitationState> {
    let effects: Vec<f64> = serde_json::from_value(effects.clone()).expect("numbers");
    let mut document = Document::from_json(include_str!("golden/passages.json")).expect("a document");
    let group = |(k, effect): (usize, &f64)| Group { name: (k + 1).to_string(), effects: vec![*effect; 3], ..document.groups[0].clone() };
    document.groups = effects.iter().enumerate().map(group).collect();
    let generation = std::sync::Arc::make_mut(&mut document.generation);
    (generation.text, generation.sentences) = ("A [1].\nB [2].\nC [3].".into(), vec![[0, 7], [7, 14], [14, 20]]);
    citations(&document).into_iter().map(|citation| citation.state).collect()
}

/// The documentation has these figures.
#[test]
fn citations_of_known_sentences_have_right_states() {
    let (mut right, mut all) = ([0; 3], [0; 3]);
    for line in include_str!("../../../tests/golden/citations/claims.jsonl").lines() {
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        let own = line["passage"].as_u64().map(|own| own as usize);
        for (cited, state) in states(&line["effects"]).into_iter().enumerate() {
            let (kind, expected) = match own {
                Some(own) if own == cited => (0, CitationState::Supported),
                Some(own) => (1, CitationState::Misplaced(own)),
                None => (2, CitationState::Unsupported),
            };
            all[kind] += 1;
            right[kind] += usize::from(state == expected);
        }
    }
    assert_eq!((right, all), ([44, 88, 60], [48, 96, 72]));
}
