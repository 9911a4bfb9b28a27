//! Files detected by their content, including untrusted ones.

#![cfg(not(target_arch = "wasm32"))]

#[path = "../../../tests/fuzz/src/hostile.rs"]
mod hostile;

use std::sync::LazyLock;

use glasscage_core::explanation::{Document, JointEffect, LinkError, to_fragment};
use glasscage_core::figure::{Options, PictureError, document_from_png, png_with_document, svg};
use glasscage_core::html::with_document;
use glasscage_core::lesson::{self, Lesson};
use glasscage_core::open::{OpenError, Opened, open_any};
use hostile::{HOSTILE, replace, show};
use proptest::prelude::*;
use serde_json::Value;

const EXAMPLE: &str = include_str!("golden/linked.json");
const WITH_TOKENS: &str = include_str!("golden/tokens.json");
const WITH_CONTRASTS: &str = include_str!("golden/contrasts.json");
const WITH_TURNS: &str = include_str!("golden/turns.json");
const WITH_EXPLAINED_TURNS: &str = include_str!("golden/explained-turns.json");
const WITH_PASSAGES: &str = include_str!("golden/passages.json");
const LESSON: &str = include_str!("../../../public/gallery/lesson-a-mistake-explained.json");
const PAGE: &str = include_str!("../../../www/explanation.html");
const PICTURE: &[u8] = include_bytes!("../../../www/icon-192.png");
/// Length of the signature and header of a PNG.
const HEAD: usize = 8 + 12 + 13;
/// Maximum bytes of a document's JSON in a picture, before compression.
const MAX_INFLATED: usize = 8 << 20;

fn example() -> Document {
    Document::from_json(EXAMPLE).unwrap()
}

fn explanation() -> Result<Opened, OpenError> {
    Ok(Opened::Explanation(Box::new(example())))
}

fn with_example() -> Vec<u8> {
    png_with_document(PICTURE, &example()).unwrap()
}

/// The picture with another chunk after its header.
fn with_chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut chunk = (data.len() as u32).to_be_bytes().to_vec();
    chunk.extend([kind, data].concat());
    chunk.extend(crc32(&[kind, data].concat()).to_be_bytes());
    [&PICTURE[..HEAD], &chunk, &PICTURE[HEAD..]].concat()
}

/// CRC-32 with a table, as in annex D of the PNG specification.
fn crc32(bytes: &[u8]) -> u32 {
    let entry = |n: u32| (0..8).fold(n, |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 });
    let table: Vec<u32> = (0..256).map(entry).collect();
    !bytes.iter().fold(!0, |crc: u32, byte| table[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8))
}

#[test]
fn a_png_carries_a_document_where_other_programs_find_it() {
    let picture = with_example();
    assert_eq!(document_from_png(&picture), Ok(example()));
    let info = |bytes: &[u8]| {
        let mut reader = png_decoder::Decoder::new(std::io::Cursor::new(bytes.to_vec())).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        reader.finish().unwrap();
        (reader.info().utf8_text.clone(), pixels)
    };
    let (texts, pixels) = info(&picture);
    assert_eq!(pixels, info(PICTURE).1);
    assert_eq!((texts.len(), &*texts[0].keyword), (1, "glasscage"));
    assert_eq!(Document::from_json(&texts[0].get_text().unwrap()), Ok(example()));
}

#[test]
fn a_png_carries_the_last_document_only() {
    let other = Document { output: vec![0], ..example() };
    let picture = png_with_document(&with_example(), &other).unwrap();
    assert_eq!(document_from_png(&picture), Ok(other));
    assert_eq!(png_with_document(&picture, &example()).unwrap(), with_example());
}

#[test]
fn a_document_that_is_not_compressed_is_read_too() {
    let json = example().to_json();
    let plain = with_chunk(b"iTXt", &[b"glasscage\0\0\0\0\0", json.as_bytes()].concat());
    assert_eq!(document_from_png(&plain), Ok(example()));
    let of_another = with_chunk(b"iTXt", &[b"glasscage2\0\0\0\0\0", json.as_bytes()].concat());
    assert_eq!(document_from_png(&of_another), Err(PictureError::NoDocument));
}

#[test]
fn damaged_and_foreign_pictures_say_so() {
    let picture = with_example();
    assert_eq!(document_from_png(PICTURE), Err(PictureError::NoDocument));
    assert_eq!(document_from_png(b"GIF89a"), Err(PictureError::NotPng));
    assert_eq!(png_with_document(&picture[..8], &example()), Err(PictureError::NotPng));
    assert_eq!(document_from_png(&picture[..HEAD + 300]), Err(PictureError::Damaged));
    let mut flipped = picture;
    flipped[HEAD + 8 + 10 + 4 + 20] ^= 1;
    assert_eq!(document_from_png(&flipped), Err(PictureError::Damaged));
    let latin = with_chunk(b"iTXt", b"glasscage\0\0\0\0\0\xff");
    assert_eq!(document_from_png(&latin), Err(PictureError::Damaged));
    let endless = [&PICTURE[..HEAD], &[0xff; 4], b"iTXtglasscage\0"].concat();
    assert_eq!(document_from_png(&endless), Err(PictureError::Damaged));
}

#[test]
fn a_small_picture_that_inflates_to_gigabytes_is_stopped() {
    let with_spaces = |n: usize| {
        let json = example().to_json() + &" ".repeat(n - example().to_json().len());
        let deflated = miniz_oxide::deflate::compress_to_vec_zlib(json.as_bytes(), 6);
        with_chunk(b"iTXt", &[&b"glasscage\0\x01\0\0\0"[..], &deflated].concat())
    };
    assert!(with_spaces(MAX_INFLATED + 1).len() < 100_000);
    assert_eq!(document_from_png(&with_spaces(MAX_INFLATED + 1)), Err(PictureError::Damaged));
    assert_eq!(document_from_png(&with_spaces(MAX_INFLATED)), Ok(example()));
    let plain = with_chunk(b"iTXt", &[b"glasscage\0\0\0\0\0", " ".repeat(MAX_INFLATED + 1).as_bytes()].concat());
    assert_eq!(document_from_png(&plain), Err(PictureError::Damaged));
}

#[test]
fn no_picture_is_written_that_cannot_be_read() {
    let mut long = example();
    let words = JointEffect { target: 1, sources: [0, 1], amount: 1.0, either_is_enough: Some("x".repeat(1 << 20)), only_together: None };
    long.joint = vec![words.clone(); 7];
    assert_eq!(document_from_png(&png_with_document(PICTURE, &long).unwrap()), Ok(long.clone()));
    long.joint.push(words);
    assert_eq!(png_with_document(PICTURE, &long), Err(PictureError::TooLarge));
}

#[test]
fn all_of_our_files_are_known_by_their_content() {
    let document = example();
    let lesson = Lesson::from_json(LESSON).unwrap();
    let link = to_fragment(&document);
    assert_eq!(open_any(EXAMPLE.as_bytes()), explanation());
    assert_eq!(open_any(format!("\u{feff}\n{EXAMPLE}").as_bytes()), explanation());
    assert_eq!(open_any(svg(&document, &Options::default()).as_bytes()), explanation());
    assert_eq!(open_any(&with_example()), explanation());
    assert_eq!(open_any(LESSON.as_bytes()), Ok(Opened::Lesson(lesson.clone())));
    for before in ["", "#", "https://example.org/glasscage/#", "see http://localhost:8080/?a=b#"] {
        assert!(matches!(open_any(format!("{before}{link}\n").as_bytes()), Ok(Opened::Explanation(_))), "{before}");
        let link = lesson::to_fragment(&lesson);
        assert!(matches!(open_any(format!("{before}{link}").as_bytes()), Ok(Opened::Lesson(_))), "{before}");
    }
    for [before, after] in [["<", ">"], ["<URL:", ">"], ["<a href=\"", "\">here</a>"], ["<iframe src='", "'></iframe>"]] {
        let text = format!("{before}https://example.org/#{link}{after}");
        assert!(matches!(open_any(text.as_bytes()), Ok(Opened::Explanation(_))), "{text}");
    }
}

#[test]
fn unknown_file_returns_specific_error() {
    for unknown in [&b""[..], b"hello", b"\xff\xfe", b"https://example.org/#about", b"[1]"] {
        assert_eq!(open_any(unknown), Err(OpenError::Unknown));
    }
    assert!(matches!(open_any(b"{}"), Err(OpenError::Document(_))));
    assert!(matches!(open_any(b"{\"format\": \"glasscage-lesson\"}"), Err(OpenError::Lesson(_))));
    assert_eq!(open_any(b"<html></html>"), Err(OpenError::Picture(PictureError::NoDocument)));
    assert_eq!(open_any(b"#g7.AAAA"), Err(OpenError::Link(LinkError::Newer)));
    assert_eq!(open_any(PICTURE), Err(OpenError::Picture(PictureError::NoDocument)));
}

/// One file of each type, as input for mutations.
static FILES: LazyLock<[Vec<u8>; 7]> = LazyLock::new(|| {
    [
        with_example(),
        with_chunk(b"iTXt", &[b"glasscage\0\0\0\0\0", EXAMPLE.as_bytes()].concat()),
        svg(&example(), &Options::default()).into_bytes(),
        EXAMPLE.as_bytes().to_vec(),
        to_fragment(&example()).into_bytes(),
        with_document(PAGE, &example(), "A title").unwrap().into_bytes(),
        LESSON.as_bytes().to_vec(),
    ]
});

proptest! {
    // Long run when this was written: `PROPTEST_CASES=100000 cargo test -p glasscage-core --release --test open`.
    #[test]
    fn mutated_files_never_panic(
        file in 0..7_usize,
        edits in proptest::collection::vec((0.0..1.0_f64, 0..24_usize, proptest::collection::vec(any::<u8>(), 0..12)), 0..4),
    ) {
        let mut bytes = FILES[file].clone();
        for (at, length, inserted) in edits {
            let start = (at * bytes.len() as f64) as usize;
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, inserted);
        }
        if let Ok(opened) = open_any(&bytes) {
            show(opened);
        }
    }

    #[test]
    fn json_with_hostile_values_is_refused_or_shown(
        file in 0..7_usize,
        edits in proptest::collection::vec((any::<usize>(), 0..HOSTILE.len()), 1..4),
    ) {
        let files = [EXAMPLE, WITH_TOKENS, WITH_CONTRASTS, WITH_TURNS, WITH_EXPLAINED_TURNS, WITH_PASSAGES, LESSON];
        let mut value: Value = serde_json::from_str(files[file]).unwrap();
        for (at, hostile) in edits {
            replace(&mut value, at, HOSTILE[hostile]);
        }
        if let Ok(opened) = open_any(value.to_string().as_bytes()) {
            show(opened);
        }
    }

    #[test]
    fn random_bytes_never_panic(head in 0..5_usize, bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let head: &[u8] = [&b""[..], &PICTURE[..HEAD], b"<metadata id=\"glasscage\">", b"{", b"#g3."][head];
        open_any(&[head, &bytes].concat()).ok();
    }
}
