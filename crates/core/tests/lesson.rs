//! Lessons and their links: against the published schema, and with untrusted input.

#![cfg(not(target_arch = "wasm32"))]

use glasscage_core::explanation::{Document, to_fragment as explanation_fragment};
use glasscage_core::lesson::{Lesson, LessonError, Question, Shown, Step, from_fragment, is_link, to_fragment};
use proptest::prelude::*;
use serde_json::{Value, json};

const EXPLANATION: &str = include_str!("golden/linked.json");
/// Made by the first page with lessons. Never change it, because old links must stay readable.
const LINK_OF_VERSION_1: &str = include_str!("golden/lesson-1.link");

fn lesson() -> Lesson {
    let explanation = Document::from_json(EXPLANATION).unwrap();
    let mark = Question::Mark { ask: "Which sentence does it rest on?".into(), count: 1 };
    let choices = vec!["One".into(), "Two".into()];
    let choose = Question::Choose { ask: "How many?".into(), choices, right: 1, because: "There are two.".into() };
    let steps = vec![
        Step { text: "Read it.\n\nThen go on.".into(), ..Step::default() },
        Step { text: "Guess.".into(), output: vec![0], question: Some(mark), ..Step::default() },
        Step { text: "Follow it back.".into(), shown: Shown::Path, question: Some(choose), ..Step::default() },
    ];
    Lesson::new("A first lesson", steps, vec![explanation])
}

#[test]
fn lessons_follow_the_published_schema_and_are_read_again() {
    let schema = serde_json::from_str(include_str!("../../../public/schema/lesson-1.json")).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let written: Value = serde_json::from_str(&lesson().to_json()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&written).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(Lesson::from_json(&lesson().to_json()), Ok(lesson()));
    assert!(
        Lesson::claims_to_be_lesson(&lesson().to_json()) && !Lesson::claims_to_be_lesson(EXPLANATION) && !Lesson::claims_to_be_lesson("[]")
    );
}

#[test]
fn a_lesson_in_another_language_asks_the_same() {
    let lesson = Lesson { language: Some("en".into()), ..lesson() };
    let upper = lesson.translated("de", |text| Some(text.to_uppercase())).unwrap();
    assert_eq!((upper.language.as_deref(), upper.title.as_str(), upper.check()), (Some("de"), "A FIRST LESSON", Ok(())));
    assert_eq!(upper.texts().collect::<Vec<_>>(), lesson.texts().map(str::to_uppercase).collect::<Vec<_>>());
    assert_eq!(from_fragment(&to_fragment(&upper)).unwrap().language, upper.language);
    assert_eq!((upper.explanations, upper.steps.len()), (lesson.explanations.clone(), lesson.steps.len()));
    for missing in lesson.texts() {
        assert_eq!(lesson.translated("de", |text| (text != missing).then(|| text.to_uppercase())), None, "{missing}");
    }
}

#[test]
fn a_link_carries_a_lesson_with_tables_at_16_bits() {
    let linked = from_fragment(&format!("#{}", to_fragment(&lesson()))).unwrap();
    assert_eq!(Lesson { explanations: lesson().explanations, ..linked.clone() }, lesson());
    assert_eq!(explanation_fragment(&linked.explanations[0]), explanation_fragment(&lesson().explanations[0]));
    assert_eq!(to_fragment(&linked), to_fragment(&lesson()));
}

#[test]
fn links_of_version_1_open() {
    assert_eq!(Lesson { explanations: lesson().explanations, ..from_fragment(LINK_OF_VERSION_1.trim()).unwrap() }, lesson());
}

#[test]
fn step_chooses_explained_output() {
    let lesson = lesson();
    let outputs: Vec<_> = lesson.steps.iter().map(|step| lesson.document(step).output).collect();
    assert_eq!(outputs, [lesson.explanations[0].output.clone(), vec![0], lesson.explanations[0].output.clone()]);
}

#[test]
fn invalid_lesson_is_rejected_with_reason() {
    let with = |change: fn(&mut Value)| {
        let mut json: Value = serde_json::from_str(&lesson().to_json()).unwrap();
        change(&mut json);
        Lesson::from_json(&json.to_string()).unwrap_err()
    };
    assert_eq!(with(|json| json["format"] = json!("other")), LessonError::Format("other".into()));
    assert_eq!(with(|json| json["version"] = json!(2)), LessonError::Version(2));
    assert_eq!(with(|json| json["steps"] = json!([])), LessonError::Size { steps: 0, explanations: 1 });
    assert_eq!(with(|json| json["explanations"] = json!([])), LessonError::Size { steps: 3, explanations: 0 });
    assert_eq!(with(|json| json["title"] = json!("a".repeat(20_000))), LessonError::Text);
    assert_eq!(with(|json| json["language"] = json!("de\" x")), LessonError::Language("de\" x".into()));
    assert_eq!(with(|json| json["steps"][0]["explanation"] = json!(1)), LessonError::Step(0));
    assert_eq!(with(|json| json["steps"][1]["output"] = json!([9])), LessonError::Step(1));
    assert_eq!(with(|json| json["steps"][1]["question"]["mark"]["count"] = json!(99)), LessonError::Step(1));
    assert_eq!(with(|json| json["steps"][2]["question"]["choose"]["right"] = json!(2)), LessonError::Step(2));
    assert!(matches!(with(|json| json["explanations"][0]["output"] = json!([99])), LessonError::Document(_)));
    assert!(matches!(with(|json| json["steps"][0]["script"] = json!("")), LessonError::Json(_)));
}

#[test]
fn invalid_lesson_link_is_rejected() {
    assert!(["#l1.AAAA", "l9", "#l1."].into_iter().all(is_link));
    assert!(!["", "#", "#l", "#lesson", "#g3.AAAA"].into_iter().any(is_link));
    assert_eq!(from_fragment("#l7.AAAA"), Err(LessonError::Newer));
    let fragment = to_fragment(&lesson());
    assert_eq!(from_fragment(&fragment[..fragment.len() - 9]), Err(LessonError::Damaged));
}

/// The same text, measured with another method.
fn by_another_method(explanation: &Document) -> Document {
    let mut document = explanation.clone();
    document.method.id = "clp".into();
    document
}

#[test]
fn explanations_come_once_and_go_when_no_step_shows_them() {
    let mut lesson = lesson();
    let first = lesson.explanations[0].clone();
    let second = by_another_method(&first);
    let linked = glasscage_core::explanation::from_fragment(&explanation_fragment(&first)).unwrap();
    assert_eq!(lesson.add_explanations(vec![linked]), 0, "rounded, but the same");
    let mut measured_otherwise = first.clone();
    let largest = measured_otherwise.table.row(0).iter().flatten().fold(0.0_f64, |largest, score| largest.max(score.abs()));
    *measured_otherwise.table.row_mut(0)[0].as_mut().unwrap() += largest / 1000.0;
    assert!(!glasscage_core::lesson::is_same_explanation(&first, &measured_otherwise));
    let chosen_otherwise = Document { output: vec![0], ..first.clone() };
    assert_eq!(lesson.add_explanations(vec![chosen_otherwise, second.clone(), second.clone()]), 1);
    lesson.steps[1].question = Some(Question::Mark { ask: "Which?".into(), count: 99 });
    lesson.show_in_step(1, 1);
    let n_prompt = second.prompt.sentences.len();
    assert_eq!((lesson.check(), &lesson.steps[1].output), (Ok(()), &Vec::new()));
    assert_eq!(lesson.steps[1].question, Some(Question::Mark { ask: "Which?".into(), count: n_prompt }));
    lesson.show_in_step(1, 9);
    assert_eq!(lesson.steps_with(1).collect::<Vec<_>>(), [1]);
    lesson.remove_explanation(0);
    assert_eq!(lesson.explanations.len(), 2, "steps show both");
    lesson.show_in_step(0, 1);
    lesson.show_in_step(2, 1);
    lesson.remove_explanation(0);
    assert_eq!((lesson.check(), &lesson.explanations), (Ok(()), &vec![second]));
    assert!(lesson.steps.iter().all(|step| step.explanation == 0));
}

proptest! {
    /// A changed character never causes a panic and never opens another lesson.
    #[test]
    fn a_changed_link_never_opens_as_another_lesson(at in 0_usize..1000, letter in "[A-Za-z0-9_-]") {
        let fragment = to_fragment(&lesson());
        let at = 3 + at % (fragment.len() - 3);
        let mut changed = fragment.clone();
        changed.replace_range(at..=at, &letter);
        prop_assert!(changed == fragment || from_fragment(&changed).is_err());
    }
}
