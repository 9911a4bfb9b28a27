//! Files and links that hold explanations and lessons: what is accepted can be shown and written again.

use arbitrary::{Arbitrary, Unstructured};
use glasscage::explanation::{Document, from_fragment, to_fragment};
use glasscage::figure::{Options, svg};
use glasscage::open::{Opened, open_any, open_fragment};
use glasscage::tables::{Contents, Format, table};
use serde_json::Value;

const EXPLANATION: &str = include_str!("../../../public/gallery/01-equal-groups.json");
const LESSON: &str = include_str!("../../../public/gallery/lesson-a-mistake-explained.json");
/// Values to put in the place of others.
const HOSTILE: [&str; 12] = [
    "null",
    "true",
    "-1",
    "1.5",
    "1e308",
    "-1e12",
    "18446744073709551615",
    "\"\"",
    "\"<script>\"",
    "\"\\ud83d\\ude00\\u0000\\u202e\"",
    "[]",
    "{}",
];

pub fn files(bytes: &[u8]) {
    if let Ok(opened) = open_any(bytes) {
        show(opened);
    }
}

pub fn links(bytes: &[u8]) {
    if let Some(Ok(opened)) = std::str::from_utf8(bytes).ok().and_then(open_fragment) {
        show(opened);
    }
}

/// A file of ours with other values in some places.
pub fn json(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let Ok(is_lesson) = bool::arbitrary(&mut u) else { return };
    let mut file: Value = serde_json::from_str(if is_lesson { LESSON } else { EXPLANATION }).expect("a file of ours");
    while !u.is_empty() {
        let (Ok(path), Ok(hostile)) = (u.arbitrary::<[u8; 6]>(), u.choose(&HOSTILE)) else { break };
        let hostile = serde_json::from_str(hostile).expect("JSON");
        *place(&mut file, &path) = hostile;
    }
    if let Ok(opened) = open_any(file.to_string().as_bytes()) {
        show(opened);
    }
}

/// The value that this path leads to: at each step one of those inside.
fn place<'a>(value: &'a mut Value, path: &[u8]) -> &'a mut Value {
    let Some((&step, path)) = path.split_first() else { return value };
    let n_inside = value.as_array().map_or_else(|| value.as_object().map_or(0, |fields| fields.len()), Vec::len);
    if n_inside == 0 {
        return value;
    }
    let at = usize::from(step) % n_inside;
    let inside = match value {
        Value::Array(values) => values.get_mut(at),
        Value::Object(fields) => fields.values_mut().nth(at),
        _ => None,
    };
    place(inside.expect("it is one of those inside"), path)
}

/// Everything that is made of a file once it is open.
fn show(opened: Opened) {
    let documents = match opened {
        Opened::Explanation(document) => vec![*document],
        Opened::Lesson(lesson) => lesson.explanations,
    };
    for document in documents {
        assert_eq!(document.check(), Ok(()));
        svg(&document, &Options::default());
        for contents in [Contents::Shares, Contents::Scores, Contents::Weights, Contents::Influence] {
            for format in [Format::Csv, Format::Markdown, Format::Latex] {
                table(&document, contents, format);
            }
        }
        assert_eq!(Document::from_json(&document.to_json()).as_ref(), Ok(&document));
        assert!(from_fragment(&to_fragment(&document)).is_ok());
    }
}
