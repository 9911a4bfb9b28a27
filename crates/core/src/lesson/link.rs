//! A lesson as a link: `#l1.` + its JSON in the form of `packed`, with each explanation as the fragment of its own link, so that tables
//! travel at 16 bits a cell.

use serde_json::Value;

use super::document::{Lesson, LessonError};
use crate::explanation;
use crate::packed::{self, MAX_PACKED};

/// What a fragment starts with (after `#`): the codec and its version.
const SCHEME: &str = "l1.";

/// The fragment, without `#`, that carries `lesson`.
pub fn to_fragment(lesson: &Lesson) -> String {
    let mut json = value_of(&lesson.to_json());
    json["explanations"] = lesson.explanations.iter().map(explanation::to_fragment).collect();
    json.sort_all_objects();
    format!("{SCHEME}{}", packed::pack(json.to_string().as_bytes()))
}

/// Whether a fragment (with or without `#`) is meant as a lesson.
pub fn is_link(fragment: &str) -> bool {
    let version = fragment.trim_start_matches('#').strip_prefix('l');
    version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
}

/// The lesson in a fragment (with or without `#`). The fragment is untrusted, like that of an explanation.
pub fn from_fragment(fragment: &str) -> Result<Lesson, LessonError> {
    let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
    let body = fragment.strip_prefix(SCHEME).ok_or(LessonError::Newer)?;
    let body = Some(body).filter(|body| body.len() <= MAX_PACKED).and_then(packed::decode);
    let bytes = body.and_then(|body| packed::inflate(&body)).ok_or(LessonError::Damaged)?;
    let mut json: Value = serde_json::from_slice(&bytes).map_err(|_| LessonError::Damaged)?;
    let fragments = json["explanations"].as_array().ok_or(LessonError::Damaged)?;
    let fragments = fragments.iter().map(|fragment| fragment.as_str().ok_or(LessonError::Damaged));
    let explanations = fragments.map(|fragment| explanation::from_fragment(fragment?).map_err(|_| LessonError::Damaged));
    json["explanations"] = explanations.map(|document| Ok(value_of(&document?.to_json()))).collect::<Result<_, LessonError>>()?;
    // Through text, because reading a document out of a `Value` would be a second copy of all that reads one.
    Lesson::from_json(&json.to_string())
}

fn value_of(written: &str) -> Value {
    serde_json::from_str(written).expect("what was written is JSON")
}
