//! A lesson as a link: `#l1.` + its JSON in the form of `packed`, with each explanation as the fragment of its own link, so that tables
//! travel at 16 bits a cell.

use serde_json::Value;

use super::document::{Lesson, LessonError};
use crate::explanation;
use crate::packed::{self, MAX_INFLATED, MAX_PACKED};

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
    let bytes = body.and_then(|body| packed::inflate(&body, MAX_INFLATED)).ok_or(LessonError::Damaged)?;
    let mut json: Value = serde_json::from_slice(&bytes).map_err(|_| LessonError::Damaged)?;
    let fragments = json.get_mut("explanations").and_then(Value::as_array_mut).ok_or(LessonError::Damaged)?;
    let fragments = std::mem::take(fragments);
    // Through text, because reading a lesson out of a `Value` would be a second copy of all that reads one.
    let mut lesson = Lesson::unchecked(&json.to_string())?;
    // Before any explanation is inflated: a few kilobytes can hold thousands of them, each of megabytes.
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

    /// A lesson's link with these fragments as its explanations.
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
