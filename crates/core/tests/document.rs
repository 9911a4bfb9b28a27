//! Documents and links: against the published schema, and with untrusted input.

#![cfg(not(target_arch = "wasm32"))]

use std::sync::Arc;

use glasscage_core::explanation::{
    Aggregation, Citation, CitationState, Compression, Contrast, Derivation, Document, DocumentError, Group, JointEffect, Language,
    Producer, Section, SectionKind, SentenceRule, Token, TooLarge, Unit, Weighting, citations, from_fragment, to_fragment,
};
use glasscage_core::graph::Normalization;
use glasscage_core::table::Table;
use proptest::prelude::*;
use serde_json::Value;

const EXAMPLE: &str = include_str!("golden/linked.json");
/// The same explanation with tokens: a document of version 3.
const WITH_TOKENS: &str = include_str!("golden/tokens.json");
const WITH_CONTRASTS: &str = include_str!("golden/contrasts.json");
/// The same explanation as if its sources were paragraphs.
const OF_PARAGRAPHS: &str = include_str!("golden/paragraphs.json");
/// The explanation with contrasts as if its prompt were a conversation.
const WITH_TURNS: &str = include_str!("golden/turns.json");
/// A conversation whose earlier answer is explained.
const WITH_EXPLAINED_TURNS: &str = include_str!("golden/explained-turns.json");
const WITH_BRANCHES: &str = include_str!("golden/branches.json");
const WITH_PASSAGES: &str = include_str!("golden/passages.json");
/// Made by version 0.1.0 of the page from `golden/linked.json`. Never change it, because old links must stay readable.
const LINK_OF_0_1_0: &str = include_str!("golden/explanation.link");
/// Made from the same document by the first page with checksums in links. Never change it either.
const LINK_OF_VERSION_2: &str = include_str!("golden/explanation-2.link");
/// Made from the same document by the first page that uses CRC-32.
const LINK_OF_VERSION_3: &str = include_str!("golden/explanation-3.link");
const LINK_WITH_STEPS: &str = include_str!("golden/explanation-3-steps.link");
const SCHEME_LENGTH: usize = 3;

fn schema() -> jsonschema::Validator {
    validator(include_str!("../../../public/schema/explanation-3.json"))
}

fn schema_of_version_2() -> jsonschema::Validator {
    validator(include_str!("../../../public/schema/explanation-2.json"))
}

fn validator(schema: &str) -> jsonschema::Validator {
    let schema = serde_json::from_str(schema).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

#[test]
fn documents_follow_the_published_schema() {
    let document = Document::from_json(EXAMPLE).unwrap();
    let written: Value = serde_json::from_str(&document.to_json()).unwrap();
    let errors: Vec<String> = schema().iter_errors(&written).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

/// The example with each derivation of the graph, as a document of each other unit, and with optional fields.
fn variants() -> Vec<Document> {
    let example = Document::from_json(EXAMPLE).unwrap();
    let of_units = Unit::ALL.map(|unit| Document { unit, ..example.clone() });
    let mut ways = Vec::new();
    for aggregation in [Aggregation::Mean, Aggregation::Sum] {
        for compression in [Compression::None, Compression::Log, Compression::Bounded, Compression::Hyperbolic] {
            for normalization in [Normalization::Full, Normalization::NonNegative, Normalization::None] {
                ways.push(Derivation { aggregation, compression, normalization, ..Derivation::default() });
            }
        }
    }
    let texts = [WITH_TOKENS, WITH_CONTRASTS, WITH_BRANCHES, WITH_TURNS, WITH_EXPLAINED_TURNS, WITH_PASSAGES];
    let of_version_3 = texts.map(|text| Document::from_json(text).unwrap());
    ways.into_iter()
        .map(|way| example.clone().derived(way))
        .chain(of_units)
        .chain([with_joint_effect(), weighted_by_flow(), with_support(), from_elsewhere()])
        .chain(of_version_3)
        .collect()
}

/// The example with a joint effect of two of its sources.
fn with_joint_effect() -> Document {
    let example = Document::from_json(EXAMPLE).unwrap();
    let effect = JointEffect { target: 1, sources: [0, 1], amount: 0.125, either_is_enough: Some("5".into()), only_together: None };
    Document { alone: Some(example.table.clone()), joint: vec![effect], ..example }
}

/// The example with scores weighted by a flow.
fn weighted_by_flow() -> Document {
    let example = Document::from_json(EXAMPLE).unwrap();
    let flow = Table::from_fn(example.table.n_prompt(), example.table.n_generated(), |i, j| Some((1 + i + 2 * j) as f64 / 64.0));
    Document { flow: Some(flow), ..example }.derived(Derivation { weighting: Weighting::Flow, ..Derivation::default() })
}

/// The example with the support of its generated sentences.
fn with_support() -> Document {
    let example = Document::from_json(EXAMPLE).unwrap();
    Document { support: vec![0.25; example.table.n_generated()], ..example }
}

/// The example with a thinking section, as if another program had measured it.
fn from_elsewhere() -> Document {
    let mut document = Document::from_json(EXAMPLE).unwrap();
    let generation = Arc::make_mut(&mut document.generation);
    let last = generation.sentences.len() - 1;
    generation.sections =
        vec![Section { kind: SectionKind::Thought, sentences: last, run: 1 }, Section { kind: SectionKind::Answer, sentences: 1, run: 1 }];
    document.method.id = "integrated gradients".into();
    document.method.unit = Some("logits".into());
    document.manifest.producer = Some(Producer { name: "inseq".into(), version: "0.7".into() });
    document
}

#[test]
fn schema_and_links_support_all_derivations_and_units() {
    for document in variants() {
        let written: Value = serde_json::from_str(&document.to_json()).unwrap();
        assert!(schema().is_valid(&written), "{:?} {:?}", document.method, document.unit);
        let is_new = written["version"] == 3;
        let branches = document.manifest.answer.branches();
        let lists_are_empty = document.contrasts.is_empty() && branches.is_empty() && document.groups.is_empty();
        let is_linked_plainly = lists_are_empty && document.unit.is_in_version_2();
        let is_plain = document.tokens.is_empty() && is_linked_plainly;
        assert_eq!((schema_of_version_2().is_valid(&written), is_plain), (!is_new, !is_new));
        let linked = from_fragment(&to_fragment(&document)).unwrap();
        assert_eq!((linked.unit, linked.method, linked.joint), (document.unit, document.method, document.joint));
        assert_eq!((&linked.support, &linked.contrasts), (&document.support, &document.contrasts));
        assert_eq!((&linked.turns, &linked.groups), (&document.turns, &document.groups));
        assert_eq!(linked.manifest.answer.branches(), branches);
        assert!(linked.tokens.is_empty() && (linked.version < 3) == is_linked_plainly, "a link has no tokens");
        assert_eq!((linked.alone.is_some(), linked.flow.is_some()), (document.alone.is_some(), document.flow.is_some()));
        assert_eq!((linked.generation, linked.manifest.producer), (document.generation, document.manifest.producer));
    }
    for unknown in [EXAMPLE.replace("\"mean\"", "\"median\""), OF_PARAGRAPHS.replace("\"paragraph\"", "\"turn\"")] {
        assert!(Document::from_json(&unknown).is_err() && !schema().is_valid(&serde_json::from_str(&unknown).unwrap()));
    }
}

#[test]
fn documents_and_links_say_a_language_that_made_a_difference() {
    for language in Language::ALL {
        let mut document = Document::from_json(EXAMPLE).unwrap();
        document.manifest.sentence_rule = SentenceRule::AnyScript;
        document.manifest.language = language;
        let written: Value = serde_json::from_str(&document.to_json()).unwrap();
        let said = written["manifest"].get("language").and_then(Value::as_str);
        assert_eq!(said, Some(language.tag()).filter(|_| language != Language::English));
        assert!(schema().is_valid(&written), "{language:?}");
        let linked = from_fragment(&to_fragment(&document)).unwrap().manifest;
        assert_eq!((linked.language, linked.sentence_rule), (language, SentenceRule::AnyScript));
    }
    let unknown = EXAMPLE.replacen("\"backend\"", "\"language\": \"xx\", \"backend\"", 1);
    assert!(Document::from_json(&unknown).is_err() && !schema().is_valid(&serde_json::from_str(&unknown).unwrap()));
}

#[test]
fn documents_are_written_as_they_were_read() {
    for text in [EXAMPLE, WITH_TOKENS, WITH_CONTRASTS, WITH_TURNS, WITH_EXPLAINED_TURNS, WITH_BRANCHES, WITH_PASSAGES, OF_PARAGRAPHS] {
        assert_eq!(Document::from_json(text).unwrap().to_json(), text.trim_end());
    }
}

#[test]
fn json_contains_optional_fields_only_if_used() {
    let example = Document::from_json(EXAMPLE).unwrap();
    assert!(
        ["\"unit\"", "\"turns\"", "\"support\"", "\"contrasts\"", "\"groups\"", "\"branches\""]
            .iter()
            .all(|field| !example.to_json().contains(field))
    );
    let words = Document { unit: Unit::Word, ..example };
    for document in [words, with_support(), Document::from_json(WITH_CONTRASTS).unwrap()] {
        assert_eq!(Document::from_json(&document.to_json()), Ok(document));
    }
}

#[test]
fn other_units_than_sentence_and_word_make_version_3() {
    for unit in Unit::ALL {
        let document = Document { unit, version: 2, ..Document::from_json(EXAMPLE).unwrap() };
        let version = if matches!(unit, Unit::Sentence | Unit::Word) { 2 } else { 3 };
        assert_eq!(Document::from_json(&document.to_json()).unwrap().version, version, "{unit:?}");
        assert_eq!(from_fragment(&to_fragment(&document)).unwrap().version, version, "{unit:?}");
    }
}

#[test]
fn contrasts_make_version_3() {
    let contrasts = Document::from_json(WITH_CONTRASTS).unwrap().contrasts;
    let version_of = |document: Document| Document::from_json(&document.to_json()).unwrap().version;
    for (version, plain) in [(1, 1), (2, 2), (3, 2)] {
        let document = Document { version, ..Document::from_json(EXAMPLE).unwrap() };
        assert_eq!(version_of(document.clone()), plain);
        assert_eq!(version_of(Document { contrasts: contrasts.clone(), ..document }), 3);
    }
}

#[test]
fn inconsistent_contrasts_are_rejected() {
    let refused = |change: fn(&mut Vec<Contrast>)| {
        let mut document = Document::from_json(WITH_CONTRASTS).unwrap();
        change(&mut document.contrasts);
        Document::from_json(&document.to_json()).unwrap_err()
    };
    assert_eq!(refused(|contrasts| contrasts[0].span = [103, 190]), DocumentError::Contrast);
    assert_eq!(refused(|contrasts| contrasts[0].span = [5, 4]), DocumentError::Contrast);
    assert_eq!(refused(|contrasts| contrasts[0].alternative = " 24".into()), DocumentError::Contrast);
    assert_eq!(refused(|contrasts| contrasts[0].effects.push(0.0)), DocumentError::Contrast);
    assert_eq!(refused(|contrasts| contrasts[0].log_probabilities[1] = 0.1), DocumentError::Contrast);
    let too_large = |part: TooLarge| DocumentError::TooLarge(part);
    assert_eq!(refused(|contrasts| contrasts[0].log_probabilities[0] = -1.7e308), too_large(TooLarge::Score));
    assert_eq!(refused(|contrasts| contrasts[0].effects[0] = -1.7e308), too_large(TooLarge::Score));
    assert_eq!(refused(|contrasts| contrasts[0].alternative = "x".repeat(1 << 21)), too_large(TooLarge::Text));
    assert_eq!(refused(|contrasts| *contrasts = vec![contrasts[0].clone(); 101]), too_large(TooLarge::Contrasts));
}

#[test]
fn groups_make_version_3_and_stay_in_links() {
    let document = Document::from_json(WITH_PASSAGES).unwrap();
    assert_eq!(Document::from_json(&document.to_json()).unwrap().version, 3);
    let plain = Document { groups: Vec::new(), ..document.clone() };
    assert_eq!(Document::from_json(&plain.to_json()).unwrap().version, 2);
    let mut precise = document.clone();
    precise.groups[0].effects = vec![0.123_456, -0.000_01, 1.0];
    let linked = from_fragment(&to_fragment(&precise)).unwrap();
    assert_eq!((&linked.groups[0].effects[..], linked.version), (&[0.1235, 0.0, 1.0][..], 3));
    precise.groups[0].effects.clear();
    assert_eq!(from_fragment(&to_fragment(&precise)).unwrap().groups, precise.groups);
}

#[test]
fn citations_of_document_have_states() {
    let document = Document::from_json(WITH_PASSAGES).unwrap();
    let found: Vec<_> = citations(&document).into_iter().map(|citation| (citation.sentence, citation.group, citation.state)).collect();
    let states = [(0, 0, CitationState::Supported), (1, 0, CitationState::Misplaced(1)), (2, 1, CitationState::Unsupported)];
    assert_eq!(found, states);
}

/// The same file tests the Python package.
#[test]
fn citations_are_those_of_python() {
    for case in include_str!("citations.jsonl").lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let mut document = Document::from_json(WITH_PASSAGES).unwrap();
        let names: Vec<String> = serde_json::from_value(case["names"].clone()).unwrap();
        let group = |name: &String| Group { name: name.clone(), effects: Vec::new(), ..document.groups[0].clone() };
        document.groups = names.iter().map(group).collect();
        let generation = Arc::make_mut(&mut document.generation);
        generation.text = case["answer"].as_str().unwrap().into();
        generation.sentences = serde_json::from_value(case["sentences"].clone()).unwrap();
        let numbers = |Citation { sentence, span: [start, end], group, .. }: Citation| [sentence, start, end, group];
        let found: Vec<[usize; 4]> = citations(&document).into_iter().map(numbers).collect();
        assert_eq!(serde_json::to_value(found).unwrap(), case["citations"], "{case}");
    }
}

#[test]
fn inconsistent_groups_are_rejected() {
    let refused = |change: fn(&mut Vec<Group>)| {
        let mut document = Document::from_json(WITH_PASSAGES).unwrap();
        change(&mut document.groups);
        Document::from_json(&document.to_json()).unwrap_err()
    };
    assert_eq!(refused(|groups| groups.reverse()), DocumentError::Groups);
    assert_eq!(refused(|groups| groups[1].sources = [1, 3]), DocumentError::Groups);
    assert_eq!(refused(|groups| groups[1].sources = [2, 5]), DocumentError::Groups);
    assert_eq!(refused(|groups| groups[1].sources = [3, 3]), DocumentError::Groups);
    assert_eq!(refused(|groups| groups[0].name = "\n".into()), DocumentError::Groups);
    assert_eq!(refused(|groups| groups[0].effects.push(0.5)), DocumentError::Groups);
    assert_eq!(refused(|groups| groups[0].effects[0] = 1.7e308), DocumentError::TooLarge(TooLarge::Score));
    let many = |groups: &mut Vec<Group>| *groups = vec![groups[0].clone(); 101];
    assert_eq!(refused(many), DocumentError::TooLarge(TooLarge::Groups));
    assert_eq!(refused(|groups| groups[0].name = "x".repeat(321)), DocumentError::TooLarge(TooLarge::GroupName));
}

#[test]
fn schema_and_page_require_same_fields_of_group() {
    let example: Value = serde_json::from_str(WITH_PASSAGES).unwrap();
    for key in ["name", "kind", "sources", "effects"] {
        let mut without = example.clone();
        without["groups"][0].as_object_mut().unwrap().remove(key);
        let is_valid = key == "effects";
        assert_eq!((Document::from_json(&without.to_string()).is_ok(), schema().is_valid(&without)), (is_valid, is_valid), "{key}");
    }
    for (key, value) in [("id", 7.into()), ("kind", "turn".into()), ("sources", vec![0].into()), ("effects", vec!["1"].into())] {
        let mut with_another = example.clone();
        with_another["groups"][0][key] = value;
        assert!(Document::from_json(&with_another.to_string()).is_err() && !schema().is_valid(&with_another), "{key}");
    }
}

#[test]
fn many_citations_are_found_in_time() {
    let mut document = Document::from_json(WITH_PASSAGES).unwrap();
    let text = "a.b [1]".repeat(20_000) + &"[".repeat(20_000) + &"(\u{b9}".repeat(20_000);
    let generation = Arc::make_mut(&mut document.generation);
    let n = text.chars().count();
    (generation.text, generation.sentences) = (text, vec![[0, 1], [1, 2], [2, n]]);
    document.groups[1].name = "a.bc".into();
    assert_eq!((document.check(), citations(&document).len()), (Ok(()), 40_000));
}

#[test]
fn inconsistent_branches_are_rejected() {
    let refused = |path: &str, value: Value| {
        let mut document: Value = serde_json::from_str(WITH_BRANCHES).unwrap();
        *document.pointer_mut(&format!("/manifest/answer/generated/branches{path}")).unwrap() = value;
        assert!(path.ends_with("token") || !schema().is_valid(&document) || path.ends_with("text"), "{path}");
        Document::from_json(&document.to_string()).unwrap_err()
    };
    for (path, value) in [("/0/token", 12), ("/0/token", 99), ("/1/token", 1 << 30), ("/0/rank", 0), ("/0/rank", 6)] {
        assert_eq!(refused(path, value.into()), DocumentError::Branches, "{path} {value}");
    }
    for (path, value) in [("/0/token", Value::from(-1)), ("/0/rank", 1.5.into()), ("/0/text", Value::Null), ("/0", Value::Null)] {
        assert!(matches!(refused(path, value), DocumentError::Json(_)), "{path}");
    }
    assert_eq!(refused("/1/text", "x".repeat(5_000).into()), DocumentError::TooLarge(TooLarge::Name));
    let branch = serde_json::json!({"token": 3, "rank": 1, "text": ""});
    assert_eq!(refused("", vec![branch; 101].into()), DocumentError::TooLarge(TooLarge::Branches));
}

#[test]
fn inconsistent_tokens_are_rejected() {
    let refused = |change: fn(&mut Vec<Token>)| {
        let mut document = Document::from_json(WITH_TOKENS).unwrap();
        change(&mut document.tokens);
        Document::from_json(&document.to_json()).unwrap_err()
    };
    let too_large = |part: TooLarge| DocumentError::TooLarge(part);
    assert_eq!(refused(|tokens| tokens.truncate(9)), DocumentError::Tokens { probabilities: 9, tokens: 88 });
    assert_eq!(refused(|tokens| tokens[87].span[1] = 190), DocumentError::TokenSpans);
    assert_eq!(refused(|tokens| tokens[87].span = [189, 188]), DocumentError::TokenSpans);
    assert_eq!(refused(|tokens| tokens.swap(0, 9)), DocumentError::TokenSpans);
    assert_eq!(refused(|tokens| tokens[0].log_probability = 0.1), DocumentError::Probabilities);
    assert_eq!(refused(|tokens| tokens[1].alternatives[0].log_probability = 0.1), DocumentError::Probabilities);
    assert_eq!(refused(|tokens| tokens[1].alternatives.reverse()), DocumentError::Probabilities);
    let again = |tokens: &mut Vec<Token>| tokens[1].alternatives = vec![tokens[1].alternatives[0].clone(); 6];
    assert_eq!(refused(again), DocumentError::Probabilities);
    assert_eq!(refused(|tokens| tokens[0].log_probability = -1.7e308), too_large(TooLarge::Score));
    assert_eq!(refused(|tokens| tokens[1].alternatives[1].text = "x".repeat(5_000)), too_large(TooLarge::Name));
    assert_eq!(refused(|tokens| *tokens = vec![tokens[9].clone(); 200_000]), too_large(TooLarge::TokenList));
}

#[test]
fn schema_and_page_require_same_fields() {
    let example: Value = serde_json::from_str(WITH_TOKENS).unwrap();
    let (token, alternative) = ("/tokens/0", "/tokens/0/alternatives/0");
    for part in ["", "/prompt", "/method", "/manifest", "/manifest/model", "/manifest/answer/generated", token, alternative] {
        for key in example.pointer(part).unwrap().as_object().unwrap().keys().filter(|key| !part.is_empty() || *key != "tokens") {
            let mut without = example.clone();
            without.pointer_mut(part).unwrap().as_object_mut().unwrap().remove(key);
            assert!(Document::from_json(&without.to_string()).is_err(), "{part}/{key}");
            assert!(!schema().is_valid(&without), "{part}/{key}");
        }
    }
}

#[test]
fn schema_and_page_require_same_fields_of_contrast() {
    let example: Value = serde_json::from_str(WITH_CONTRASTS).unwrap();
    for key in example["contrasts"][0].as_object().unwrap().keys() {
        let mut without = example.clone();
        without["contrasts"][0].as_object_mut().unwrap().remove(key);
        assert!(Document::from_json(&without.to_string()).is_err() && !schema().is_valid(&without), "{key}");
    }
}

#[test]
fn schema_and_page_require_same_fields_of_branch() {
    let example: Value = serde_json::from_str(WITH_BRANCHES).unwrap();
    let place = "/manifest/answer/generated/branches/0";
    for key in ["token", "rank", "text"] {
        let mut without = example.clone();
        without.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(key);
        assert!(Document::from_json(&without.to_string()).is_err() && !schema().is_valid(&without), "{key}");
    }
    let mut with_another = example.clone();
    with_another.pointer_mut(place).unwrap()["id"] = 7.into();
    assert!(Document::from_json(&with_another.to_string()).is_err() && !schema().is_valid(&with_another));
}

#[test]
fn links_made_by_old_pages_still_open() {
    let original = Document::from_json(EXAMPLE).unwrap();
    for link in [LINK_OF_0_1_0, LINK_OF_VERSION_2, LINK_OF_VERSION_3, LINK_WITH_STEPS] {
        let document = from_fragment(link.trim()).unwrap();
        assert_eq!(
            (document.prompt, document.generation, document.output),
            (original.prompt.clone(), original.generation.clone(), original.output.clone())
        );
    }
}

#[test]
fn a_link_of_today_is_the_one_of_its_version() {
    assert_eq!(to_fragment(&Document::from_json(EXAMPLE).unwrap()), LINK_WITH_STEPS.trim());
}

#[test]
fn no_character_of_a_link_can_be_changed_unnoticed() {
    let fragment = to_fragment(&Document::from_json(EXAMPLE).unwrap());
    let linked = from_fragment(&fragment);
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for position in SCHEME_LENGTH..fragment.len() {
        for step in [1, 2, 32, 63] {
            let mut bytes = fragment.clone().into_bytes();
            let digit = digits.iter().position(|digit| *digit == bytes[position]).unwrap();
            bytes[position] = digits[(digit + step) % 64];
            let opened = from_fragment(&String::from_utf8(bytes).unwrap());
            assert!(opened.is_err() || opened == linked, "another explanation at {position}");
        }
    }
}

#[test]
fn links_stay_short() {
    let document = Document::from_json(EXAMPLE).unwrap();
    let length = to_fragment(&document).len();
    println!("{} sentences: a link of {length} characters", document.table.n_sources());
    assert!(length < 2000);
}

/// The example with another table. Its cells repeat `scores`, and 0.5 marks a cell that was not measured.
fn with_scores(scores: &[f64]) -> Document {
    let example = Document::from_json(EXAMPLE).unwrap();
    let (n, m) = (example.table.n_prompt(), example.table.n_generated());
    let cell = |i: usize, j: usize| Some(scores[(i * (n + m) + j) % scores.len()]).filter(|score| score.fract() != 0.5);
    Document { table: Table::from_fn(n, m, cell), ..example }
}

fn scores() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(prop_oneof![-8.0..8.0_f64, Just(0.0), Just(0.5), -1e-6..1e-6], 40)
}

proptest! {
    #[test]
    fn json_keeps_every_bit_and_a_link_16_of_them(scores in scores()) {
        let document = with_scores(&scores);
        prop_assert_eq!(&Document::from_json(&document.to_json()).unwrap(), &document);
        let linked = from_fragment(&to_fragment(&document)).unwrap();
        for (sent, received) in document.table.rows().zip(linked.table.rows()) {
            let largest = sent.iter().flatten().fold(0.0, |largest: f64, score| largest.max(score.abs()));
            for (sent, received) in sent.iter().zip(received) {
                prop_assert_eq!(sent.is_some(), received.is_some());
                prop_assert!((sent.unwrap_or(0.0) - received.unwrap_or(0.0)).abs() <= largest / 32767.0);
            }
        }
        prop_assert_eq!(to_fragment(&linked), to_fragment(&document));
    }

    #[test]
    fn no_fragment_makes_the_page_panic(text in ".{0,200}") {
        let _ = from_fragment(&text);
        let _ = from_fragment(&format!("g1.{text}"));
        let _ = from_fragment(&format!("g2.{text}"));
        let _ = from_fragment(&format!("g3.{text}"));
    }

    #[test]
    fn no_damaged_link_makes_the_page_panic(position in 0_usize..1000, byte in b'A'..=b'z') {
        let mut fragment = to_fragment(&Document::from_json(EXAMPLE).unwrap()).into_bytes();
        let position = 3 + position % (fragment.len() - 3);
        fragment[position] = byte;
        let _ = from_fragment(&String::from_utf8_lossy(&fragment));
    }
}
