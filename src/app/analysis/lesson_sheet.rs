//! Worksheet of a lesson for printing: texts and questions, and the answers on a separate page.

use std::sync::Arc;

use super::number::{enumerated, listed};
use super::share_texts;
use crate::app::i18n::t;
use crate::explanation::{Document, PlacedUnit};
use crate::lesson::{Lesson, Question, Shown, Step};
use crate::order::by_descending;
use crate::shares::{AttributionGraph, Shares};

/// The answer key omits smaller shares.
const SMALLEST_SHARE: f64 = 0.01;

/// Contents of a worksheet.
#[derive(Debug, PartialEq, Eq)]
pub struct LessonSheet {
    pub title: String,
    pub texts: Vec<SheetText>,
    pub tasks: Vec<SheetTask>,
}

/// A prompt and its answer, sentence by sentence.
#[derive(Debug, PartialEq, Eq)]
pub struct SheetText {
    /// "Text", or "Text B" if there are several.
    pub name: String,
    /// Label and text of each sentence: ("P1", "Tom has 5 apples.").
    pub sentences: Vec<(String, String)>,
}

/// One question.
#[derive(Debug, PartialEq, Eq)]
pub struct SheetTask {
    /// Text of the step, before its question.
    pub text: String,
    /// Text and explained sentences: "Text B, G2". `None` if the step shows nothing.
    pub about: Option<String>,
    pub ask: String,
    /// Options to tick.
    pub options: Vec<String>,
    pub key: String,
}

impl LessonSheet {
    pub fn new(lesson: &Lesson) -> Self {
        let texts = distinct_texts(lesson);
        let tasks = lesson.steps.iter().filter_map(|step| task(lesson, &texts, step)).collect();
        let texts = texts.iter().enumerate().map(|(at, text)| SheetText { name: text_name(&texts, at), sentences: sentences(text) });
        Self { title: lesson.title.clone(), texts: texts.collect(), tasks }
    }
}

/// One explanation for each text, because several methods may explain the same text.
fn distinct_texts(lesson: &Lesson) -> Vec<&Document> {
    let mut texts: Vec<&Document> = Vec::new();
    for document in &lesson.explanations {
        if !texts.iter().any(|text| text.is_same_text(document)) {
            texts.push(document);
        }
    }
    texts
}

/// "Text", or "Text B" if there are several.
fn text_name(texts: &[&Document], at: usize) -> String {
    if texts.len() == 1 { t!("Text").into() } else { t!("Text {letter}", letter = char::from(b'A' + at as u8)) }
}

fn sentences(document: &Document) -> Vec<(String, String)> {
    let texts = document.source_texts();
    let named = |unit: PlacedUnit| (document.label(unit.source), texts[unit.source].trim().to_owned());
    document.units_in_order().into_iter().map(named).collect()
}

fn task(lesson: &Lesson, texts: &[&Document], step: &Step) -> Option<SheetTask> {
    let document = lesson.document(step);
    let text = texts.iter().position(|text| text.is_same_text(&document))?;
    let rows: Vec<String> = document.explained().iter().map(|row| format!("G{}", row + 1)).collect();
    let about = (step.shown != Shown::Nothing).then(|| t!("{text}, {sentences}", text = text_name(texts, text), sentences = listed(&rows)));
    let text = step.text.clone();
    Some(match step.question.clone()? {
        Question::Mark { ask, .. } => {
            let options = (1..=document.prompt.sentences.len()).map(|number| format!("P{number}")).collect();
            SheetTask { text, about, ask, options, key: shares(document) }
        }
        Question::Choose { ask, choices, right, because } => {
            let right = &choices[right];
            let is_ended = right.trim_end_matches(['\u{201d}', '"']).ends_with(['.', '!', '?', '\u{3002}', '\u{ff01}', '\u{ff1f}']);
            let stop = if is_ended { "" } else { "." };
            let key = format!("{right}{stop} {because}");
            SheetTask { text, about, ask, options: choices, key }
        }
    })
}

/// "P4 65%, P1 30%, P6 6%": shares of the prompt sentences, largest first. Says so if the prompt does not support the explained sentences.
fn shares(document: Document) -> String {
    let n_prompt = document.prompt.sentences.len();
    let output = document.explained();
    let attribution = Shares::new(Arc::new(AttributionGraph::new(document)), &output);
    if attribution.is_unsupported() {
        return t!("Nothing in the prompt supports this.").into();
    }
    let measured: Vec<(usize, f64)> = (0..n_prompt).filter_map(|j| Some((j, attribution.total(j)?))).collect();
    let largest = by_descending(&measured, |(_, share)| *share);
    enumerated(
        largest
            .iter()
            .filter(|(_, share)| *share >= SMALLEST_SHARE)
            .map(|(j, share)| format!("P{} {}", j + 1, share_texts::figure(attribution.scale(), *share))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::lesson::tests::lesson;

    #[test]
    fn a_sheet_has_the_texts_the_questions_and_their_answers() {
        let sheet = LessonSheet::new(&lesson());
        let names: Vec<&str> = sheet.texts[0].sentences.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((sheet.title.as_str(), sheet.texts.len(), names[0]), ("A lesson", 1, "P1"));
        let [mark, choose] = &sheet.tasks[..] else { panic!("{:?}", sheet.tasks) };
        assert_eq!((mark.ask.as_str(), mark.options[0].as_str()), ("Which?", "P1"));
        assert!(mark.key.starts_with('P') && mark.key.contains('%'), "{}", mark.key);
        assert_eq!((mark.about.as_deref(), &choose.about), (Some("Text, G4"), &Some("Text, G4".to_owned())));
        assert_eq!((&choose.options[..], choose.key.as_str()), (&["1".to_owned(), "2".to_owned()][..], "2. So."));
    }
}
