//! Properties of all splitters: their units are in order, and tile every text.

#![cfg(not(target_arch = "wasm32"))]

use std::ops::Range;

use glasscage_core::explanation::Passage;
use glasscage_text::brackets::Bracketed;
use glasscage_text::lines::{lines, paragraphs};
use glasscage_text::passages::{NamedPassage, cut, passages};
use glasscage_text::sections::sections;
use glasscage_text::sentences::{sentences, tile};
use glasscage_text::words::words;
use proptest::prelude::*;
use serde::Deserialize;

type Split = fn(&str) -> Vec<Range<usize>>;

const SPLITTERS: [Split; 4] = [lines, paragraphs, sections, words];

/// Texts with many line ends, headings, fences and brackets, and characters of several bytes.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n"),
        Just("\n\n"),
        Just(" "),
        Just("\t"),
        Just("\u{3000}"),
        Just("# "),
        Just("\n[1] "),
        Just("\n[2]\n"),
        Just("\nSource 3:"),
        Just("```"),
        Just("[["),
        Just("]]"),
        Just("]"),
        Just("["),
        Just("a. B"),
        Just("Zo\u{eb}?"),
        Just("\u{1f98a}"),
        Just("\u{200b}"),
        Just("e\u{301}"),
    ];
    prop_oneof![proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat()), any::<String>()]
}

fn check_units(text: &str, units: &[Range<usize>]) {
    let mut end = 0;
    for unit in units {
        assert!(end <= unit.start && unit.start < unit.end, "{units:?} in {text:?}");
        let unit_text = &text[unit.clone()];
        assert!(!unit_text.trim().is_empty() && unit_text.trim_end() == unit_text, "{units:?} in {text:?}");
        end = unit.end;
    }
    let tiles = tile(text, units);
    let joined: String = tiles.iter().map(|tile| &text[tile.clone()]).collect();
    assert_eq!(joined, if units.is_empty() { "" } else { text }, "{units:?}");
}

proptest! {
    #[test]
    fn units_tile_every_text(text in texts()) {
        for split in SPLITTERS {
            let units = split(&text);
            check_units(&text, &units);
            prop_assert_eq!(units.is_empty(), text.trim().is_empty());
            let visible = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
            prop_assert_eq!(units.iter().map(|unit| visible(&text[unit.clone()])).sum::<usize>(), visible(&text));
        }
    }

    #[test]
    fn coarse_units_start_at_lines(text in texts()) {
        let starts: Vec<usize> = lines(&text).iter().map(|line| line.start).collect();
        for split in [paragraphs, sections] {
            prop_assert!(split(&text).iter().all(|unit| starts.contains(&unit.start)));
        }
    }

    #[test]
    fn passages_are_in_order_and_hold_whole_units(text in texts()) {
        let found = passages(&text);
        let mut end = 0;
        for passage in &found {
            prop_assert!(end <= passage.bytes.start && passage.bytes.start == passage.mark.start && passage.mark.end < passage.bytes.end);
            let inside = &text[passage.bytes.clone()];
            prop_assert!(inside.trim() == inside && text[passage.mark.clone()].contains(&passage.name));
            end = passage.bytes.end;
        }
        prop_assert!(found.len() != 1);
        for split in SPLITTERS {
            let units = cut(&text, split(&text), &found);
            check_units(&text, &units);
            let is_inside = |unit: &Range<usize>, bytes: &Range<usize>| bytes.start <= unit.start && unit.end <= bytes.end;
            let is_apart = |unit: &Range<usize>, bytes: &Range<usize>| unit.end <= bytes.start || bytes.end <= unit.start;
            let is_whole = |unit: &Range<usize>| found.iter().all(|passage| {
                is_inside(unit, &passage.bytes) || is_apart(unit, &passage.bytes)
            });
            prop_assert!(units.iter().all(is_whole), "{units:?}");
        }
    }

    #[test]
    fn brackets_are_found_again_in_marked_units(text in texts()) {
        let Ok(found) = Bracketed::new(&text) else { return Ok(()) };
        prop_assert!(found.text.len() + 4 * found.parts.len() == text.len());
        let units = found.units(sentences);
        let tiles = tile(&found.text, &units);
        let passage = Passage::new(&found.text, &tiles, vec![1; tiles.len()]);
        // Removed marks may leave brackets next to each other that look like a mark.
        if tiles.is_empty() || ["[[", "]]"].iter().any(|mark| found.text.contains(mark)) {
            return Ok(());
        }
        let again = Bracketed::new(&passage.bracketed()).expect("the marks are valid");
        prop_assert_eq!(tile(&again.text, &again.units(sentences)), tiles);
        prop_assert_eq!(again.text, found.text);
    }
}

#[derive(Deserialize)]
struct Case {
    text: Option<String>,
    word: Option<Vec<[usize; 2]>>,
    line: Option<Vec<[usize; 2]>>,
    paragraph: Option<Vec<[usize; 2]>>,
    section: Option<Vec<[usize; 2]>>,
    /// A prompt with marks. It has units, or is not valid.
    marked: Option<String>,
    bracket: Option<Vec<[usize; 2]>>,
}

fn code_points(text: &str, units: &[Range<usize>]) -> Vec<[usize; 2]> {
    units.iter().map(|unit| [unit.start, unit.end].map(|byte| text[..byte].chars().count())).collect()
}

/// The same file tests the Python package.
#[test]
fn units_are_those_of_python() {
    for case in include_str!("units.jsonl").lines() {
        let case: Case = serde_json::from_str(case).expect("a case");
        if let Some(marked) = case.marked {
            let found = Bracketed::new(&marked).ok();
            assert_eq!(found.as_ref().map(|found| &found.text), case.text.as_ref(), "{marked:?}");
            assert_eq!(found.map(|found| code_points(&found.text, &found.units(sentences))), case.bracket, "{marked:?}");
            continue;
        }
        let text = case.text.expect("a text");
        let expected = [case.line, case.paragraph, case.section, case.word];
        for (split, expected) in SPLITTERS.into_iter().zip(expected) {
            assert_eq!(Some(code_points(&text, &split(&text))), expected, "{text:?}");
        }
    }
}

#[derive(Deserialize)]
struct PassageCase {
    text: String,
    /// Name, end of the mark, and span of each passage, in code points.
    passages: Vec<(String, usize, usize, usize)>,
    sentence: Vec<[usize; 2]>,
    paragraph: Vec<[usize; 2]>,
    section: Vec<[usize; 2]>,
}

/// The same file tests the Python package.
#[test]
fn passages_are_those_of_python() {
    for case in include_str!("passages.jsonl").lines() {
        let PassageCase { text, passages: expected, sentence, paragraph, section } = serde_json::from_str(case).expect("a case");
        let found = passages(&text);
        let code_point = |byte: usize| text[..byte].chars().count();
        let of = |passage: &NamedPassage| {
            let [mark, start, end] = [passage.mark.end, passage.bytes.start, passage.bytes.end].map(code_point);
            (passage.name.clone(), mark, start, end)
        };
        assert_eq!(found.iter().map(of).collect::<Vec<_>>(), expected, "{text:?}");
        let splitters: [(Split, _); 3] = [(sentences, sentence), (paragraphs, paragraph), (sections, section)];
        for (split, units) in splitters {
            assert_eq!(code_points(&text, &cut(&text, split(&text), &found)), units, "{text:?}");
        }
    }
}
