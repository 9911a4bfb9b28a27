//! The lessons of the gallery, in the languages of the page.

use std::collections::BTreeSet;

use glasscage::lesson::{Lesson, Question, Step};
use serde_json::{Map, Value};

use crate::texts::CATALOGS;
use crate::workspace;

#[test]
fn lessons_are_translated_into_every_language() {
    let lessons = lessons();
    assert!(lessons.len() >= 6, "{}", lessons.len());
    for (tag, _) in CATALOGS {
        let [words, page] = ["lessons", "locales"].map(|folder| catalog(&format!("public/{folder}/{tag}.json")));
        let text = |english: &str| words.get(english).or_else(|| page.get(english)).and_then(Value::as_str).map(str::to_owned);
        for lesson in &lessons {
            let missing: Vec<&str> = lesson.texts().filter(|english| is_words(english) && text(english).is_none()).collect();
            assert_eq!(missing, [""; 0], "not in public/lessons/{tag}.json");
            let told = lesson.translated(tag, text).expect("every text is there");
            assert_eq!((told.check(), told.language.as_deref()), (Ok(()), Some(tag)));
            let asked = |lesson: &Lesson| lesson.steps.iter().map(without_words).collect::<Vec<_>>();
            assert_eq!(asked(&told), asked(lesson), "{tag}: pictures, questions and solutions differ in {}", lesson.title);
            for (english, told) in lesson.texts().zip(told.texts()) {
                check_words(tag, english, told, lesson, &page);
            }
        }
        let known: BTreeSet<&str> = lessons.iter().flat_map(Lesson::texts).collect();
        let unknown: Vec<&String> = words.keys().filter(|english| !known.contains(english.as_str())).collect();
        assert_eq!(unknown, Vec::<&String>::new(), "no lesson contains this text: public/lessons/{tag}.json");
    }
}

#[test]
fn lessons_match_their_sources() {
    let sources = workspace::tracked(&["json"]).into_iter().filter(|file| file.starts_with("crates/cli/src/gallery/lessons/"));
    let written: BTreeSet<String> = sources.map(|file| words_of(catalog(&file))).collect();
    let told: BTreeSet<String> = lessons().iter().map(|lesson| words_of(catalog_of(&lesson.to_json()))).collect();
    let differing: Vec<&str> = written.difference(&told).filter_map(|words| words.split(':').next()).collect();
    assert_eq!((differing, written.len()), (vec![], told.len()), "cargo run --release -- gallery");
}

/// Title and step texts of a lesson or its source.
fn words_of(lesson: Map<String, Value>) -> String {
    let steps: Vec<Step> = serde_json::from_value(lesson["steps"].clone()).expect("steps");
    format!("{}: {steps:#?}", lesson["title"])
}

fn catalog_of(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).expect("an object")
}

/// The lessons of the gallery. The page knows their language by `language`.
fn lessons() -> Vec<Lesson> {
    let index = catalog("public/gallery/index.json");
    let entries = index["lessons"].as_array().expect("a list");
    let lesson = |entry: &Value| {
        let path = format!("public/gallery/{}", entry["file"].as_str().expect("a name"));
        let lesson = Lesson::from_json(&workspace::read(&path).expect("a lesson")).expect("a lesson");
        assert_eq!(lesson.language.as_deref(), Some("en"), "{path}");
        lesson
    };
    entries.iter().map(lesson).collect()
}

fn catalog(path: &str) -> Map<String, Value> {
    let text = workspace::read(path).unwrap_or_else(|| panic!("{path} is missing"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn is_words(text: &str) -> bool {
    text.contains(char::is_alphabetic)
}

/// A step without its texts.
fn without_words(step: &Step) -> Step {
    let question = step.question.clone().map(|question| match question {
        Question::Mark { count, .. } => Question::Mark { ask: String::new(), count },
        Question::Choose { choices, right, .. } => {
            Question::Choose { ask: String::new(), choices: vec![String::new(); choices.len()], right, because: String::new() }
        }
    });
    Step { text: String::new(), question, ..step.clone() }
}

/// Checks that a translation has the numbers, sentence names and paragraphs of the original. Quotes from an explanation stay in its
/// language. Quotes from the page must match the page's translation.
fn check_words(tag: &str, english: &str, told: &str, lesson: &Lesson, page: &Map<String, Value>) {
    assert!(!told.trim().is_empty(), "{tag}: {english}");
    assert_eq!(english.split("\n\n").count(), told.split("\n\n").count(), "{tag}: paragraphs of {english}");
    assert_eq!(numbers(english), numbers(told), "{tag}: numbers of {english}");
    for quoted in english.split('\u{201c}').skip(1).filter_map(|rest| Some(rest.split_once('\u{201d}')?.0)) {
        let is_of_explanation =
            lesson.explanations.iter().any(|document| document.prompt.text.contains(quoted) || document.generation.text.contains(quoted));
        let of_page = page.get(quoted).and_then(Value::as_str);
        match (is_of_explanation, of_page) {
            (true, _) => assert!(told.contains(quoted), "{tag}: \u{201c}{quoted}\u{201d} is not in: {told}"),
            (_, Some(name)) => assert!(told.contains(name), "{tag}: the page calls it {name}: {told}"),
            _ => {}
        }
    }
}

/// Numbers, and names with a number ("G1"), each once. A decimal comma counts as a point.
fn numbers(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == ',';
    let words = text.split(|c| !is_part(c)).map(|word| word.trim_matches(['.', ',']).replace(',', "."));
    words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect()
}
