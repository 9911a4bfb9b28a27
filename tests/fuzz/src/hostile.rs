//! Values that nobody expects, and what is made of a file that opens although it has them. The tests of the core use it, too.

use glasscage_core::explanation::{Document, from_fragment, to_fragment};
use glasscage_core::figure::{Options, svg};
use glasscage_core::open::Opened;
use glasscage_core::tables::{Contents, Format, table};
use serde_json::Value;

/// Values to put in the place of others; a name that begins with `*` says what is done with the value that is there.
pub const HOSTILE: [&str; 14] = [
    "null",
    "true",
    "-1",
    "0",
    "1.5",
    "1e308",
    "-1e12",
    "18446744073709551615",
    "\"\"",
    "\"<script>alert(1)</script>\"",
    "\"\\ud83d\\ude00\\u0000\\u202e\"",
    "[]",
    "{}",
    "*twice",
];

/// What is doubled again and again stops growing at this size.
const LARGEST: usize = 1 << 20;

/// Puts a hostile value in the place of value `at` of those within this one, counted round and round.
pub fn replace(value: &mut Value, at: usize, hostile: &str) {
    if hostile != "*twice" || size(value) <= LARGEST {
        let n_values = count(value);
        replace_after(value, &mut (at % n_values), hostile);
    }
}

/// Roughly the bytes of this value as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(size).sum::<usize>(),
        Value::Object(fields) => 1 + fields.iter().map(|(name, value)| name.len() + size(value)).sum::<usize>(),
        Value::String(text) => 1 + text.len(),
        _ => 1,
    }
}

/// All values within this one, itself included.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(count).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// Changes the value that stands `left` places after this one.
fn replace_after(value: &mut Value, left: &mut usize, hostile: &str) -> bool {
    if *left == 0 {
        match value {
            Value::Array(values) if hostile == "*twice" => values.extend(values.clone()),
            Value::String(text) if hostile == "*twice" => *text = text.repeat(2),
            value => *value = serde_json::from_str(hostile).unwrap_or_default(),
        }
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(values) => values.iter_mut().any(|value| replace_after(value, left, hostile)),
        Value::Object(fields) => fields.values_mut().any(|value| replace_after(value, left, hostile)),
        _ => false,
    }
}

/// Everything that is made of a file once it is open: what is accepted can be shown and written again.
pub fn show(opened: Opened) {
    let documents = match opened {
        Opened::Explanation(document) => vec![*document],
        Opened::Lesson(lesson) => lesson.explanations,
    };
    for document in documents {
        document.check().expect("what is opened is sound");
        roxmltree::Document::parse(&svg(&document, &Options::default())).expect("a picture is XML");
        for contents in [Contents::Shares, Contents::Scores, Contents::Derived, Contents::Weights, Contents::Influence] {
            for format in [Format::Csv, Format::Markdown, Format::Latex] {
                table(&document, contents, format);
            }
        }
        assert_eq!(Document::from_json(&document.to_json()).as_ref(), Ok(&document), "a file is read as it was written");
        from_fragment(&to_fragment(&document)).expect("a link opens");
    }
}
