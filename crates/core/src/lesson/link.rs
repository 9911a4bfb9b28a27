//! Lesson links: `#l1.` followed by packed JSON (see `packed`). Each explanation is stored as the fragment of its own link, so its tables
//! have 16 bits per cell.

use serde_json::Value;

use super::document::{Lesson, LessonError};
use crate::explanation;
use crate::packed::{self, MAX_INFLATED, MAX_PACKED};

/// Start of a fragment (after `#`): the codec and its version.
const SCHEME: &str = "l1.";

/// Encodes `lesson` as a fragment, without `#`.
pub fn to_fragment(lesson: &Lesson) -> String {
    let mut json = value_of(&lesson.to_json());
    json["explanations"] = lesson.explanations.iter().map(explanation::to_fragment).collect();
    json.sort_all_objects();
    format!("{SCHEME}{}", packed::pack(json.to_string().as_bytes()))
}

/// Whether a fragment (with or without `#`) looks like a lesson.
pub fn is_link(fragment: &str) -> bool {
    let version = fragment.trim_start_matches('#').strip_prefix('l');
    version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
}

/// Decodes the lesson in a fragment (with or without `#`). The fragment is untrusted: every size is bounded, and the lesson is checked like
/// any other.
pub fn from_fragment(fragment: &str) -> Result<Lesson, LessonError> {
    let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
    let body = fragment.strip_prefix(SCHEME).ok_or(LessonError::Newer)?;
    let body = Some(body).filter(|body| body.len() <= MAX_PACKED);
    let bytes = body.and_then(|body| packed::unpack(body, |body| packed::inflate(body, MAX_INFLATED))).ok_or(LessonError::Damaged)?;
    let mut json: Value = serde_json::from_slice(&bytes).map_err(|_| LessonError::Damaged)?;
    let fragments = json.get_mut("explanations").and_then(Value::as_array_mut).ok_or(LessonError::Damaged)?;
    let fragments = std::mem::take(fragments);
    // Parse text instead of a `Value`, because parsing a `Value` would compile the parsing code a second time.
    let mut lesson = Lesson::unchecked(&json.to_string())?;
    // Check the counts before inflating any explanation: a few kilobytes can contain thousands of explanations of megabytes each.
    lesson.check_counts(fragments.len())?;
    let mut room = MAX_INFLATED;
    for fragment in fragments {
        let fragment = fragment.as_str().ok_or(LessonError::Damaged)?;
        let document = explanation::from_fragment_within(fragment, &mut room).map_err(|_| LessonError::Damaged)?;
        lesson.explanations.push(document);
    }
    lesson.check()?;
    Ok(lesson)
}

fn value_of(written: &str) -> Value {
    serde_json::from_str(written).expect("what was written is JSON")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::document::MAX_EXPLANATIONS;
    use super::super::step::Step;
    use super::*;
    use crate::explanation::example::example;
    use crate::explanation::{Document, Passage};

    /// A lesson link with these fragments as its explanations.
    fn link_with(fragments: Vec<String>) -> String {
        let mut json = value_of(&Lesson::new("Title", vec![Step::default()], Vec::new()).to_json());
        json["explanations"] = fragments.into();
        format!("{SCHEME}{}", packed::pack(json.to_string().as_bytes()))
    }

    #[test]
    fn explanations_are_counted_before_any_is_inflated() {
        let damaged = |n: usize| from_fragment(&link_with(vec!["g3.damaged".into(); n]));
        assert_eq!(damaged(MAX_EXPLANATIONS + 1), Err(LessonError::Size { steps: 1, explanations: MAX_EXPLANATIONS + 1 }));
        assert_eq!(damaged(MAX_EXPLANATIONS), Err(LessonError::Damaged));
    }

    #[test]
    fn all_explanations_together_inflate_to_what_one_may() {
        let text = "x".repeat(1 << 20);
        let prompt = Passage::new(&text, &[0..1, 1..text.len()], vec![1, 1]);
        let large = explanation::to_fragment(&Document { prompt: Arc::new(prompt), ..example() });
        assert!(from_fragment(&link_with(vec![large.clone(); 7])).is_ok());
        assert_eq!(from_fragment(&link_with(vec![large; 8])), Err(LessonError::Damaged));
    }

    #[test]
    fn json_without_a_list_of_explanations_is_damaged() {
        for json in ["null", "[]", "\"explanations\"", "{\"explanations\": {}}", "{\"explanations\": [1]}"] {
            assert!(from_fragment(&format!("{SCHEME}{}", packed::pack(json.as_bytes()))).is_err(), "{json}");
        }
    }
}
