//! Pictures: their content, and extracting the document from them.

#![cfg(not(target_arch = "wasm32"))]

use std::sync::Arc;

use glasscage_core::explanation::{Derivation, Document, Language, Passage, Section, SectionKind, SentenceRule, Unit};
use glasscage_core::figure::{Labels, Options, PictureError, document_from_svg, svg};
use glasscage_core::graph::Normalization;
use glasscage_core::number::NumberFormat;
use glasscage_core::table::Table;
use proptest::prelude::*;

const EXAMPLE: &str = include_str!("golden/linked.json");
const GALLERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/gallery");

fn example() -> Document {
    Document::from_json(EXAMPLE).unwrap()
}

/// The example with other sentences. Each depends on all sentences before it, most on the first.
fn with_texts(prompt: &[&str], generation: &[&str]) -> Document {
    let passage = |sentences: &[&str]| {
        let mut end = 0;
        let spans: Vec<_> = sentences
            .iter()
            .map(|sentence| {
                let start = end;
                end += sentence.len();
                start..end
            })
            .collect();
        Arc::new(Passage::new(&sentences.concat(), &spans, vec![1; sentences.len()]))
    };
    let mut document = example();
    (document.prompt, document.generation) = (passage(prompt), passage(generation));
    document.table = Table::from_fn(prompt.len(), generation.len(), |_, j| Some(1.0 / (1 + j) as f64));
    document.output = vec![generation.len() - 1];
    (document.alone, document.joint) = (None, Vec::new());
    document.check().unwrap();
    document
}

/// The texts of the picture, one per element.
fn texts(svg: &str) -> Vec<String> {
    let parsed = roxmltree::Document::parse(svg).unwrap();
    let texts = parsed.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_thought_is_one_line_unless_it_is_explained() {
    let mut document = with_texts(&["Two and two."], &["I add them.", "That is four.", "The sum is 4."]);
    let section = |kind, sentences| Section { kind, sentences, run: 1 };
    let sections = vec![section(SectionKind::Thought, 2), section(SectionKind::Answer, 1)];
    document.generation = Passage { sections, ..Passage::clone(&document.generation) }.into();
    let folded = svg(&document, &Options::default());
    let said = texts(&folded);
    // In the row of G3, P1, G1 and G2 have 1 : 1/2 : 1/3, so G1 and G2 together have 5 of 11.
    assert!(said.contains(&"Folded here; 45% of the influence goes through it.".to_owned()), "{said:?}");
    assert!(!said.contains(&"That is four.".to_owned()) && said.contains(&"The sum is 4.".to_owned()));
    assert_eq!(folded.matches("<circle").count(), 3, "prompt, thought and answer");
    assert!(!folded.contains("G1 \u{2192} G2"), "no arc within the thought");
    document.output = vec![1];
    assert!(texts(&svg(&document, &Options::default())).contains(&"That is four.".to_owned()), "what is explained is seen");
}

/// The share that the note below a picture states for its arcs.
fn share_of_arcs(picture: &str) -> Option<String> {
    texts(picture).iter().find_map(|text| Some(text.strip_prefix("The arcs carry ")?.split_once(" of")?.0.to_owned()))
}

#[test]
fn the_note_tells_what_the_drawn_arcs_carry() {
    let mut document = with_texts(&["Two and two."], &["I add them.", "That is four.", "The sum is 4."]);
    let section = |kind, sentences| Section { kind, sentences, run: 1 };
    let sections = vec![section(SectionKind::Thought, 2), section(SectionKind::Answer, 1)];
    document.generation = Passage { sections, ..Passage::clone(&document.generation) }.into();
    // Flow of each edge in elevenths. Only the arc G1 -> G2 is not drawn: G2 has 2 of the flow into G3 and passes 1/3 of it to G1.
    let flow = [6.0, 3.0, 2.0, 2.0 * 2.0 / 3.0, 2.0 / 3.0, 3.0 + 2.0 / 3.0];
    let carried = 100.0 * (1.0 - flow[4] / flow.iter().sum::<f64>());
    let all = Options { edge_share: 1.0, ..Options::default() };
    assert_eq!(share_of_arcs(&svg(&document, &all)), Some(format!("{carried:.0}%")));
    // If there are many sentences, some have no row, and the arcs to them are not drawn.
    let many: Vec<String> = (0..300).map(|k| format!("Sentence {k} is here. ")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut even = with_texts(&many, &["So."]);
    even.table = Table::from_fn(300, 1, |_, _| Some(1.0));
    assert_eq!(share_of_arcs(&svg(&even, &all)).as_deref(), Some("40%"), "119 of 300");
}

#[test]
fn a_folded_thought_takes_no_row_from_the_others() {
    let many: Vec<String> = (0..300).map(|k| format!("Sentence {k} is here. ")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut document = with_texts(&many[..100], &many[100..]);
    // The thinking section has almost all influence.
    document.table = Table::from_fn(100, 200, |_, j| Some(if j < 100 { 0.001 } else { 1.0 }));
    let section = |kind, sentences| Section { kind, sentences, run: 1 };
    let sections = vec![section(SectionKind::Thought, 199), section(SectionKind::Answer, 1)];
    document.generation = Passage { sections, ..Passage::clone(&document.generation) }.into();
    let said = texts(&svg(&document, &Options::default()));
    assert!(said.iter().filter(|text| text.starts_with("Sentence ")).count() == 101, "the prompt and the answer: {said:?}");
}

#[test]
fn every_explanation_of_the_gallery_comes_out_of_its_picture() {
    let mut n_pictures = 0;
    for file in std::fs::read_dir(GALLERY).unwrap() {
        let json = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let Ok(document) = Document::from_json(&json) else { continue };
        for (width, is_dark, has_percentages) in [(800.0, false, true), (480.0, true, true), (1200.0, true, false)] {
            let picture = svg(&document, &Options { width, is_dark, has_percentages, ..Options::default() });
            assert_eq!(document_from_svg(&picture).as_ref(), Ok(&document));
            assert_eq!(picture, svg(&document, &Options { width, is_dark, has_percentages, ..Options::default() }));
            let texts = texts(&picture);
            assert_eq!(texts.iter().any(|text| ["0%", "<1%"].contains(&text.as_str())), has_percentages, "{texts:?}");
            n_pictures += 1;
        }
    }
    assert!(n_pictures > 30, "{n_pictures}");
}

#[test]
fn picture_shows_output_shares_and_provenance() {
    let document = with_texts(&["Tom has 6. ", "It rains."], &["He eats 2. ", "So 4."]);
    let picture = svg(&document, &Options { date: Some("2026-11-23".into()), ..Options::default() });
    let texts = texts(&picture);
    for expected in
        ["Why G2?", "Prompt", "P1", "Tom has 6.", "It rains.", "Answer", "He eats 2.", "explained", "67%", "55%", "33%", "27%", "18%"]
    {
        assert!(texts.iter().any(|text| text == expected), "{expected} {texts:?}");
    }
    assert!(texts.iter().any(|text| text.contains("2026-11-23") && text.contains(&document.manifest.glasscage)), "{texts:?}");
    let number_format = NumberFormat { percent: "{number}\u{a0}%", ..NumberFormat::ENGLISH };
    let german = Labels { why: "Warum {label}?", number_format, ..Labels::ENGLISH };
    let picture = svg(&document, &Options { labels: german, ..Options::default() });
    assert!(picture.contains("Warum G2?") && picture.contains("67\u{a0}%"));
}

#[test]
fn the_last_sentence_is_explained_where_the_document_chooses_none() {
    let document = Document { output: Vec::new(), ..with_texts(&["A. "], &["B. ", "C."]) };
    assert!(svg(&document, &Options::default()).contains("Why G2?"));
    let both = Document { output: vec![0, 1], ..document };
    assert!(svg(&both, &Options::default()).contains("Why G1, G2?"));
}

#[test]
fn numbers_that_are_no_shares_are_written_as_numbers() {
    let raw = Derivation { normalization: Normalization::None, ..Derivation::default() };
    let mut document = with_texts(&["A. ", "B. "], &["C. "]).derived(raw);
    document.table.row_mut(0).copy_from_slice(&[Some(1240.4), Some(-2.5)]);
    let picture = svg(&document, &Options::default());
    let texts = texts(&picture);
    assert!(["1,240", "\u{2212}2.50"].iter().all(|&number| texts.iter().any(|text| text == number)), "{texts:?}");
    assert!(picture.contains("not shares"));
    assert!(picture.contains("stroke-dasharray"));
}

#[test]
fn hostile_text_is_shown_as_text() {
    let hostile = ["</metadata><script>alert(1)</script>", "]]>&lt;&#x3c;\"'<metadata id=\"glasscage\">", "\u{0}\u{b}\u{ffff}\u{1b}\u{85}"];
    let mut document = with_texts(&hostile, &["<svg onload=alert(1)>", "<!--"]);
    document.manifest.model.name = "<image href='javascript:alert(1)'/>".into();
    document.method.id = "\"><script>".into();
    let picture = svg(&document, &Options { date: Some("<a>".into()), ..Options::default() });
    assert_eq!(document_from_svg(&picture).as_ref(), Ok(&document));
    let parsed = roxmltree::Document::parse(&picture).unwrap();
    let known = ["svg", "title", "metadata", "rect", "path", "circle", "text"];
    for node in parsed.descendants().filter(|node| node.is_element()) {
        assert!(known.contains(&node.tag_name().name()), "{}", node.tag_name().name());
        assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on") && attribute.name() != "href"));
    }
    assert!(texts(&picture).contains(&hostile[0].to_owned()));
}

#[test]
fn long_documents_show_what_matters_and_say_what_is_missing() {
    let sentences: Vec<String> = (0..300).map(|k| format!("Sentence {k} is here. ")).collect();
    let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
    let document = with_texts(&sentences[..200], &sentences[200..]);
    let picture = svg(&document, &Options::default());
    let texts = texts(&picture);
    assert!(texts.contains(&"P1".to_owned()) && texts.contains(&"G100".to_owned()) && !texts.contains(&"P150".to_owned()));
    assert!(texts.iter().any(|text| text.contains("120 of 300 sentences")), "{texts:?}");
    assert_eq!(document_from_svg(&picture).as_ref(), Ok(&document));
    let long = "word ".repeat(2000);
    let picture = svg(&with_texts(&[&long], &["Yes."]), &Options::default());
    assert!(picture.contains("\u{2026}</text>") && picture.contains("Too long"));
    let sixty = with_texts(&sentences[..40], &sentences[200..220]);
    assert!(!svg(&sixty, &Options::default()).contains("Too long"));
}

#[test]
fn text_from_the_right_begins_there_and_words_flow() {
    let mut document = with_texts(&["\u{643}\u{645} \u{62a}\u{641}\u{627}\u{62d}\u{629}\u{61f} "], &["5."]);
    (document.manifest.language, document.manifest.sentence_rule) = (Language::Chinese, SentenceRule::AnyScript);
    let picture = svg(&document, &Options::default());
    assert!(picture.contains("direction=\"rtl\"") && picture.contains("xml:lang=\"zh\""));
    let words = Document { unit: Unit::Word, ..with_texts(&["Tom ", "has\n", "6."], &["So ", "6."]) };
    let picture = svg(&words, &Options::default());
    assert_eq!(document_from_svg(&picture).as_ref(), Ok(&words));
    assert!(texts(&picture).contains(&"has".to_owned()) && !picture.contains("<path"));
}

#[test]
fn paragraphs_have_rows_with_shares() {
    let texts_of_prompt = ["Tom has 2.\nAnn has 3.\n\n", "Who has more?"];
    let paragraphs = Document { unit: Unit::Paragraph, version: 3, ..with_texts(&texts_of_prompt, &["Ann has 3. ", "So Ann."]) };
    let picture = svg(&paragraphs, &Options::default());
    assert_eq!(document_from_svg(&picture).as_ref(), Ok(&paragraphs));
    let drawn = texts(&picture);
    assert!(["P1", "Tom has 2.", "Ann has 3.", "CAGE"].iter().all(|text| drawn.contains(&(*text).to_owned())), "{drawn:?}");
    assert!(picture.contains("from the source to") && !picture.contains("from the sentence to"));
}

#[test]
fn pictures_saved_by_other_programs_still_open() {
    let document = with_texts(&["\"Tom\" & <Ann>. "], &["Yes."]);
    let picture = svg(&document, &Options::default());
    let resaved =
        picture.replace("<metadata id=", "<metadata\n     id=").replace("\n<title>", "\n<metadata id=\"metadata7\">x</metadata>\n<title>");
    assert_eq!(document_from_svg(&resaved).as_ref(), Ok(&document));
    let (before, after) = picture.split_once("<metadata id=\"glasscage\">").unwrap();
    let (json, after) = after.split_once("</metadata>").unwrap();
    let quoted = format!("{before}<metadata id=\"glasscage\">{}</metadata>{after}", json.replace('"', "&quot;"));
    assert_eq!(document_from_svg(&quoted).as_ref(), Ok(&document));
}

#[test]
fn file_without_explanation_is_reported() {
    assert_eq!(document_from_svg("<svg/>"), Err(PictureError::NoDocument));
    assert_eq!(document_from_svg("<metadata id=\"glasscage\">{"), Err(PictureError::NoDocument));
    assert!(matches!(document_from_svg("<metadata id=\"glasscage\">{}</metadata>"), Err(PictureError::Document(_))));
    assert_eq!(document_from_svg(&" ".repeat((64 << 20) + 1)), Err(PictureError::TooLarge));
}

proptest! {
    #[test]
    fn any_text_makes_a_picture_that_gives_it_back(
        prompt in proptest::collection::vec("\\PC{1,40}|[\u{0}-\u{20}<>&\"]{1,9}", 1..5),
        generation in proptest::collection::vec(".{1,40}", 1..4),
        width in 0.0..2000.0,
        is_dark: bool,
    ) {
        let document = with_texts(
            &prompt.iter().map(String::as_str).collect::<Vec<_>>(),
            &generation.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let picture = svg(&document, &Options { width, is_dark, ..Options::default() });
        prop_assert!(roxmltree::Document::parse(&picture).is_ok());
        prop_assert_eq!(document_from_svg(&picture), Ok(document));
    }

    #[test]
    fn mutated_pictures_never_panic(at in 0.0..1.0_f64, length in 0..40_usize, inserted in ".{0,20}") {
        let picture = svg(&example(), &Options::default());
        let boundary = |at: usize| (0..=at.min(picture.len())).rev().find(|&at| picture.is_char_boundary(at)).unwrap();
        let start = boundary((at * picture.len() as f64) as usize);
        let end = boundary(start + length).max(start);
        if let Ok(document) = document_from_svg(&format!("{}{inserted}{}", &picture[..start], &picture[end..])) {
            document.check().unwrap();
        }
    }
}
