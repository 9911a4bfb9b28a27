//! Hostile values, and everything that we derive from a file that opens in spite of them. The tests of the core use this module, too.

use glasscage_core::conversation::turns_of;
use glasscage_core::explanation::{Document, citations, from_fragment, to_fragment};
use glasscage_core::figure::{Options, svg};
use glasscage_core::open::Opened;
use glasscage_core::shares::{ContrastShares, Shares, repeats_itself};
use glasscage_core::tables::{Contents, Format, table};
use serde_json::Value;

/// Replacement values. A name that begins with `*` is an operation on the existing value.
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

/// Maximum size of a value that is doubled repeatedly.
const LARGEST: usize = 1 << 20;

/// Replaces the value with index `at` inside `value` by a hostile value. The index wraps around.
pub fn replace(value: &mut Value, at: usize, hostile: &str) {
    if hostile != "*twice" || size(value) <= LARGEST {
        let n_values = count(value);
        replace_after(value, &mut (at % n_values), hostile);
    }
}

/// Approximate bytes of this value as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(size).sum::<usize>(),
        Value::Object(fields) => 1 + fields.iter().map(|(name, value)| name.len() + size(value)).sum::<usize>(),
        Value::String(text) => 1 + text.len(),
        _ => 1,
    }
}

/// Number of values inside this one, including itself.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(count).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// Replaces the value that comes `left` places after this one.
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

/// Derives everything that we derive from an open file: accepted files can be shown and written again.
pub fn show(opened: Opened) {
    let documents = match opened {
        Opened::Explanation(document) => vec![*document],
        Opened::Lesson(lesson) => lesson.explanations,
    };
    for document in documents {
        document.check().expect("an opened document is valid");
        roxmltree::Document::parse(&svg(&document, &Options::default())).expect("a picture is XML");
        for contents in [Contents::Shares, Contents::Scores, Contents::Derived, Contents::Weights, Contents::Influence] {
            for format in [Format::Csv, Format::Markdown, Format::Latex] {
                table(&document, contents, format);
            }
        }
        for contrast in &document.contrasts {
            let ContrastShares { shares, effect } = ContrastShares::of(&document, contrast);
            assert!(effect.is_finite() && shares.iter().flatten().all(|share| (0.0..=1.0 + 1e-9).contains(share)), "{shares:?}");
        }
        let shares = Shares::of(&document);
        for group in &document.groups {
            let repeats = (0..document.generation.sentences.len()).filter(|&i| repeats_itself(&document, group, i)).count();
            std::hint::black_box((shares.amounts_of_group(group.sources), repeats));
        }
        let mut sources: Vec<usize> = document.units_in_order().into_iter().map(|unit| unit.source).collect();
        sources.sort_unstable();
        assert!(sources.into_iter().eq(0..document.table.n_sources()), "each unit has one place");
        assert!(
            document.generation.text.ends_with(document.last_answer_text()) && document.last_answer_text() != "",
            "there is a last answer"
        );
        assert_eq!(turns_of(&document).len(), document.turns.len(), "each turn has a text");
        let n_chars = document.generation.text.chars().count();
        let is_inside = |span: [usize; 2]| span[0] < span[1] && span[1] <= n_chars;
        assert!(citations(&document).iter().all(|citation| is_inside(citation.span)), "a citation is outside of the answer");
        assert_eq!(Document::from_json(&document.to_json()).as_ref(), Ok(&document), "a file round-trips");
        from_fragment(&to_fragment(&document)).expect("a link opens");
    }
}
