//! Link codec: `#g3.` followed by packed bytes (see `packed`), which contain the document's JSON and, separately, its tables. Links of
//! version 1, `#g1.`, have no checksum. Links of version 2, `#g2.`, have zlib's Adler-32, which cannot distinguish "pert" from "ratt".
//!
//! The table is stored with 16 bits per cell, scaled by the row's largest positive and largest negative score. With 8 bits, about one
//! whole-percent label in three would change by one. With 16 bits, a new page shows the same picture. Links are still shorter than once
//! planned for 8 bits, because most of a link is text. A nonzero score is stored as at least one step, because 0 means that there is no
//! effect at all.
//!
//! Layout of the inflated bytes, little endian: `u32` length of the JSON, the JSON, then for each row two `f32` scales (positive, negative)
//! and an `i16` per cell. `i16::MIN` marks an unmeasured cell. If the JSON has `alone` or `flow`, those tables follow in the same format.
//! Tokens are left out, because they take several times as much as the rest. All old links must stay readable: never change the literal
//! links in the tests.

use glasscage_message::ToMessage;
use miniz_oxide::inflate::{decompress_to_vec_with_limit, decompress_to_vec_zlib_with_limit};
use serde_json::Value;

use super::document::MAX_SENTENCES;
use super::{Document, DocumentError};
use crate::packed::{self, MAX_INFLATED, MAX_PACKED};
use crate::table::{CausalMatrix, Table};

/// Start of a fragment (after `#`): the codec and its version.
const SCHEME: &str = "g3.";
const SCHEME_OF_ZLIB: &str = "g2.";
const SCHEME_WITHOUT_CHECKSUM: &str = "g1.";
const UNMEASURED: i16 = i16::MIN;
const FULL_SCALE: f64 = i16::MAX as f64;

/// Why a fragment is not an explanation.
#[derive(Debug, PartialEq, thiserror::Error, ToMessage)]
pub enum LinkError {
    #[error("this link does not contain an explanation")]
    Scheme,
    #[error("this link was made by a newer version of the page")]
    Newer,
    #[error("this link is damaged; it may have been cut off where it was copied")]
    Damaged,
    #[error("this link is too large")]
    TooLarge,
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// Encodes `document` as a fragment, without `#`.
pub fn to_fragment(document: &Document) -> String {
    format!("{SCHEME}{}", packed::pack(&link_content(document)))
}

/// The content of a link to `document` before compression.
fn link_content(document: &Document) -> Vec<u8> {
    let mut head = document.clone();
    head.manifest.table_precision = "16-bit".into();
    head.tokens.clear();
    for effect in &mut head.joint {
        effect.amount = at_least_one_step(effect.amount, (effect.amount * 1e4).round()) / 1e4;
    }
    // Adding 0 turns -0 into 0.
    head.support.iter_mut().for_each(|support| *support = (*support * 1e4).round() / 1e4 + 0.0);
    head.groups.iter_mut().flat_map(|group| &mut group.effects).for_each(|effect| *effect = (*effect * 1e4).round() / 1e4 + 0.0);
    for contrast in &mut head.contrasts {
        contrast.log_probabilities = contrast.log_probabilities.map(|number| (number * 1e4).round() / 1e4 + 0.0);
        contrast.effects.iter_mut().for_each(|effect| *effect = at_least_one_step(*effect, (*effect * 1e4).round()) / 1e4 + 0.0);
    }
    let mut json: Value = serde_json::from_str(&head.to_json()).expect("a document is JSON");
    json["table"] = Value::Null;
    for (name, table) in [("alone", &document.alone), ("flow", &document.flow)] {
        if table.is_some() {
            json[name] = Value::Null;
        }
    }
    // Sort the keys, so that every build writes the same characters: a dependency may make serde_json keep the insertion order of keys.
    json.sort_all_objects();
    let json = json.to_string();
    let mut bytes = (json.len() as u32).to_le_bytes().to_vec();
    bytes.extend(json.as_bytes());
    let tables = std::iter::once(&document.table).chain(&document.alone).chain(&document.flow);
    tables.flat_map(Table::rows).for_each(|row| write_row(row, &mut bytes));
    bytes
}

/// Whether a fragment (with or without `#`) looks like an explanation. Other programs append other fragments to addresses.
pub fn is_link(fragment: &str) -> bool {
    let version = fragment.trim_start_matches('#').strip_prefix('g');
    version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
}

/// Decodes the document in a fragment (with or without `#`). The fragment is untrusted: every size is bounded, and the document is checked
/// like any other.
pub fn from_fragment(fragment: &str) -> Result<Document, LinkError> {
    from_fragment_within(fragment, &mut { MAX_INFLATED })
}

/// Like [`from_fragment`]. The fragment may inflate to at most `room` bytes; the bytes that it takes are subtracted from `room`.
pub fn from_fragment_within(fragment: &str, room: &mut usize) -> Result<Document, LinkError> {
    let bytes = inflated(fragment.strip_prefix('#').unwrap_or(fragment), *room)?;
    *room -= bytes.len();
    let (length, rest) = bytes.split_first_chunk().ok_or(LinkError::Damaged)?;
    let (json, mut tables) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(LinkError::Damaged)?;
    let json = std::str::from_utf8(json).map_err(|_| LinkError::Damaged)?;
    let mut json: Value = serde_json::from_str(json).map_err(|_| LinkError::Damaged)?;
    let names = ["table", "alone", "flow"].into_iter().filter(|name| json.get(*name).is_some());
    for name in names.collect::<Vec<_>>() {
        json[name] = serde_json::to_value(read_table(&json, &mut tables)?).map_err(|_| LinkError::Damaged)?;
    }
    if !tables.is_empty() {
        return Err(LinkError::Damaged);
    }
    Ok(Document::from_json(&json.to_string())?)
}

/// The inflated bytes of a fragment, at most `most`.
fn inflated(fragment: &str, most: usize) -> Result<Vec<u8>, LinkError> {
    if fragment.len() > MAX_PACKED {
        return Err(LinkError::TooLarge);
    }
    if !is_link(fragment) {
        return Err(LinkError::Scheme);
    }
    let (version, body) = fragment.split_at_checked(SCHEME.len()).ok_or(LinkError::Damaged)?;
    let inflated = match version {
        SCHEME => packed::unpack(body, |body| packed::inflate(body, most)),
        SCHEME_OF_ZLIB => packed::unpack(body, |body| decompress_to_vec_zlib_with_limit(body, most).ok()),
        SCHEME_WITHOUT_CHECKSUM => packed::unpack(body, |body| decompress_to_vec_with_limit(body, most).ok()),
        _ => return Err(LinkError::Newer),
    };
    inflated.ok_or(LinkError::Damaged)
}

/// `rounded`, or one step with the sign of `number` if a nonzero `number` was rounded to 0, because 0 means that there is no effect at all.
fn at_least_one_step(number: f64, rounded: f64) -> f64 {
    if rounded == 0.0 && number != 0.0 { 1_f64.copysign(number) } else { rounded }
}

fn write_row(row: &[Option<f64>], bytes: &mut Vec<u8>) {
    let largest = |sign: f64| row.iter().flatten().fold(0.0, |largest: f64, score| largest.max(sign * score));
    let scale = |largest: f64| if largest > 0.0 { (largest.min(f32::MAX.into()) as f32).max(f32::from_bits(1)) } else { 0.0 };
    let scales = [scale(largest(1.0)), scale(largest(-1.0))];
    scales.iter().for_each(|scale| bytes.extend(scale.to_le_bytes()));
    for score in row {
        let cell = score.map_or(UNMEASURED, |score| {
            let scale = f64::from(scales[usize::from(score < 0.0)]);
            let steps = if scale > 0.0 { (score / scale * FULL_SCALE).round().clamp(-FULL_SCALE, FULL_SCALE) } else { 0.0 };
            at_least_one_step(score, steps) as i16
        });
        bytes.extend(cell.to_le_bytes());
    }
}

fn read_table(head: &Value, bytes: &mut &[u8]) -> Result<Table, LinkError> {
    let n_sentences = |passage: &str| head[passage]["sentences"].as_array().map(Vec::len).ok_or(LinkError::Damaged);
    let (n_prompt, n_generated) = (n_sentences("prompt")?, n_sentences("generation")?);
    if n_prompt + n_generated > MAX_SENTENCES {
        return Err(DocumentError::TooManySentences(n_prompt + n_generated).into());
    }
    let rows = (0..n_generated).map(|i| read_row(n_prompt + i, bytes)).collect::<Option<Vec<_>>>();
    rows.map(|rows| CausalMatrix::from_rows(n_prompt, rows)).ok_or(LinkError::Damaged)
}

fn read_row(n_cells: usize, bytes: &mut &[u8]) -> Option<Vec<Option<f64>>> {
    let positive = f64::from(f32::from_le_bytes(take(bytes)?));
    let negative = f64::from(f32::from_le_bytes(take(bytes)?));
    let score = |cell: i16| f64::from(cell) / FULL_SCALE * if cell < 0 { negative } else { positive };
    (0..n_cells)
        .map(|_| match i16::from_le_bytes(take(bytes)?) {
            UNMEASURED => Some(None),
            cell => Some(Some(score(cell)).filter(|score| score.is_finite())),
        })
        .collect()
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::super::example::{example, with_contrast, with_tokens};
    use super::*;

    #[test]
    fn link_preserves_document_with_16_bit_table() {
        let document = example();
        let linked = from_fragment(&format!("#{}", to_fragment(&document))).unwrap();
        assert_eq!(linked.manifest.table_precision, "16-bit");
        for (sent, received) in document.table.rows().zip(linked.table.rows()) {
            for (sent, received) in sent.iter().zip(received) {
                assert!((sent.unwrap() - received.unwrap()).abs() <= 2.0 / 32767.0);
            }
        }
        assert_eq!(Document { table: document.table.clone(), manifest: document.manifest.clone(), ..linked }, document);
    }

    #[test]
    fn link_rounds_support_to_four_digits() {
        let document = Document { support: vec![0.123_456, -1e-6], ..example() };
        let linked = from_fragment(&to_fragment(&document)).unwrap();
        assert!(linked.support == [0.1235, 0.0] && linked.support[1].is_sign_positive());
        assert_eq!(to_fragment(&linked), to_fragment(&document));
    }

    #[test]
    fn link_contains_contrasts_with_four_digits() {
        let mut document = with_contrast();
        document.contrasts[0].effects = vec![0.123_456, -1e-6, -0.0];
        let linked = from_fragment(&to_fragment(&document)).unwrap();
        assert_eq!(linked.contrasts[0].effects, [0.1235, -1e-4, 0.0]);
        document.contrasts[0].effects.clone_from(&linked.contrasts[0].effects);
        assert_eq!((&linked.contrasts, linked.version), (&document.contrasts, 3));
        assert_eq!(to_fragment(&linked), to_fragment(&document));
    }

    #[test]
    fn a_linked_document_links_to_the_same_fragment() {
        let fragment = to_fragment(&example());
        assert_eq!(to_fragment(&from_fragment(&fragment).unwrap()), fragment);
    }

    #[test]
    fn link_leaves_tokens_out() {
        assert_eq!(to_fragment(&with_tokens()), to_fragment(&example()));
    }

    #[test]
    fn cells_not_measured_stay_so() {
        let mut document = example();
        document.table.row_mut(1)[2] = None;
        assert_eq!(from_fragment(&to_fragment(&document)).unwrap().table.row(1)[2], None);
    }

    #[test]
    fn scores_too_small_for_a_link_are_not_zero() {
        let mut document = example();
        for scores in [[1e-60, -1e-60], [5.0, 1e-6], [-5.0, -1e-6], [0.0, 1e-9]] {
            document.table.row_mut(0).copy_from_slice(&scores.map(Some));
            let fragment = to_fragment(&document);
            let linked = from_fragment(&fragment).unwrap();
            let signs = |row: &[Option<f64>]| row.iter().map(|score| score.map(|score| (score != 0.0, score > 0.0))).collect::<Vec<_>>();
            assert_eq!(signs(linked.table.row(0)), signs(document.table.row(0)));
            assert_eq!(to_fragment(&linked), fragment);
        }
    }

    #[test]
    fn a_link_survives_mail_and_chat() {
        let fragment = to_fragment(&example());
        let wrapped = |between: &str| {
            let lines: Vec<&str> = fragment.as_bytes()[8..].chunks(70).map(|line| std::str::from_utf8(line).unwrap()).collect();
            format!("{}{}", &fragment[..8], lines.join(between))
        };
        for between in ["\n", "\r\n", "\n> ", " ", "%0A", "\u{200b}", "=\n", "<br>", "-\n", "-\r\n> ", "\u{2010}\n"] {
            for after in ["", "\n\nBest regards\nAnn", " (issue #12)"] {
                assert_eq!(from_fragment(&(wrapped(between) + after)), from_fragment(&fragment), "{between:?} {after:?}");
            }
        }
    }

    #[test]
    fn invalid_link_is_rejected_with_reason() {
        assert_eq!(from_fragment("#g7.AAAA"), Err(LinkError::Newer));
        assert_eq!(from_fragment("#about"), Err(LinkError::Scheme));
        for cut in ["#g2", "#g2.", "#g3", "#g3.", "#g1.!!", "#g2.!!", "#g3.!!"] {
            assert_eq!(from_fragment(cut), Err(LinkError::Damaged), "{cut}");
        }
        let fragment = to_fragment(&example());
        assert_eq!(from_fragment(&fragment[..fragment.len() - 9]), Err(LinkError::Damaged));
        assert_eq!(from_fragment(&"a".repeat(MAX_PACKED)), Err(LinkError::Scheme));
        assert_eq!(from_fragment(&"a".repeat(MAX_PACKED + 1)), Err(LinkError::TooLarge));
    }

    #[test]
    fn tracking_parameters_are_no_link() {
        assert!(["#g1.AAAA", "g2.", "g3.", "#g7", "#g12.A"].into_iter().all(is_link));
        assert!(!["", "#", "#g", "#about", "#gclid=1", "#utm_source=x", "#:~:text=g1."].into_iter().any(is_link));
    }

    #[test]
    fn the_punctuation_after_a_link_is_forgiven() {
        let fragment = to_fragment(&example());
        for after in [")", ".", ",", ").", ">", "\u{201d}", "&utm_source=x"] {
            assert_eq!(from_fragment(&format!("{fragment}{after}")), from_fragment(&fragment), "{after}");
        }
    }

    #[test]
    fn a_small_link_that_inflates_to_gigabytes_is_stopped() {
        let zeros = vec![0; MAX_INFLATED + 1];
        for (scheme, bomb) in [(SCHEME, packed::pack(&zeros)), (SCHEME_OF_ZLIB, URL_SAFE_NO_PAD.encode(compress_to_vec_zlib(&zeros, 10)))] {
            assert_eq!(from_fragment(&format!("{scheme}{bomb}")), Err(LinkError::Damaged));
        }
    }
}
