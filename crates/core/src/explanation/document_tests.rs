use std::sync::Arc;

use super::example::{example, with_tokens};
use super::{
    Aggregation, Compression, Derivation, Document, DocumentError, JointEffect, MAX_SENTENCES, Method, Passage, TooLarge, Weighting,
};
use crate::graph::Normalization;
use crate::table::Table;

#[test]
fn a_document_survives_json() {
    let document = example();
    assert_eq!(Document::from_json(&document.to_json()), Ok(document));
}

#[test]
fn sources_are_the_prompt_sentences_and_then_the_generated_ones() {
    let document = example();
    assert_eq!((document.source(1), document.source(2)), ("She eats 1.", "2 - 1 = 1. "));
    assert_eq!(document.labels(), ["P1", "P2", "G1", "G2"]);
}

#[test]
fn is_same_text_compares_text_and_sentences_only() {
    let document = example();
    assert!(document.is_same_text(&Document { table: Table::unmeasured(2, 2), ..document.clone() }));
    let other = |text: &str, end: usize| Arc::new(Passage::new(text, &[0..end, end..text.len()], vec![7, 3]));
    let same = other("2 - 1 = 1. So 1.", 11);
    assert!(document.is_same_text(&Document { generation: same.clone(), ..document.clone() }));
    for differs in [other("2 - 1 = 1. So 2.", 11), other("2 - 1 = 1. So 1.", 10)] {
        assert!(!document.is_same_text(&Document { generation: differs.clone(), ..document.clone() }), "{differs:?}");
        assert!(!document.is_same_text(&Document { prompt: differs.clone(), ..document.clone() }), "{differs:?}");
    }
}

#[test]
fn a_document_is_complete_when_every_cell_is_measured() {
    let mut document = example();
    assert!(document.is_complete());
    document.table.row_mut(1)[2] = None;
    assert!(!document.is_complete());
}

#[test]
fn no_more_sentences_are_taken_than_the_page_shows() {
    let passage = |n: usize| Arc::new(Passage::new(&"x".repeat(n), &(0..n).map(|i| i..i + 1).collect::<Vec<_>>(), vec![1; n]));
    let checked = |n_prompt: usize, n_generated: usize| {
        let (prompt, generation) = (passage(n_prompt), passage(n_generated));
        Document { prompt, generation, table: Table::unmeasured(n_prompt, n_generated), ..example() }.check()
    };
    assert_eq!(checked(MAX_SENTENCES - 400, 400), Ok(()));
    assert_eq!(checked(MAX_SENTENCES - 400, 401), Err(DocumentError::TooManySentences(MAX_SENTENCES + 1)));
}

#[test]
fn documents_have_smallest_possible_version() {
    let version_of = |document: Document| Document::from_json(&document.to_json()).unwrap().version;
    for (version, written) in [(1, 1), (2, 2), (3, 2)] {
        assert_eq!(version_of(Document { version, ..example() }), written);
        assert_eq!(version_of(Document { version, ..with_tokens() }), 3);
    }
}

#[test]
fn json_contains_tokens_only_if_measured() {
    assert!(!example().to_json().contains("alternatives"));
    let document = with_tokens();
    assert_eq!(Document::from_json(&document.to_json()), Ok(document));
}

#[test]
fn sentence_has_tokens_of_its_own() {
    let document = with_tokens();
    let numbers = |i: usize| document.tokens_of(i).iter().map(|token| token.span).collect::<Vec<_>>();
    assert_eq!((numbers(0).len(), numbers(1)), (7, vec![[11, 13], [13, 15], [15, 16]]));
    assert!(example().tokens_of(1).is_empty());
}

#[test]
fn the_table_stays_as_measured_however_the_graph_is_made() {
    let sum = Derivation { aggregation: Aggregation::Sum, normalization: Normalization::None, ..Derivation::default() };
    let summed = example().derived(sum);
    assert_eq!(summed.table, example().table);
    // Mean 0.5 nats, summed over 7 tokens of the target and 6 of the source.
    assert_eq!(summed.scores().row(0), [Some(0.5 * 7.0 * 6.0), Some(1.25 * 7.0 * 5.0)]);
    assert_eq!(summed.scores().row(1)[2], Some(2.0 * 3.0 * 7.0));
    assert_eq!(example().scores(), example().table);
    assert_eq!(Document::from_json(&summed.to_json()).unwrap().scores(), summed.scores());
}

#[test]
fn flow_weights_are_relative_to_largest_in_row() {
    let flow = Table::from_fn(2, 2, |i, j| Some([[0.08, 0.01, 0.0], [0.0, 0.125, 1.0]][i][j]));
    let by_flow = Derivation { weighting: Weighting::Flow, ..Derivation::PAPER };
    let nothing_flows = Document { flow: Some(Table::from_fn(2, 2, |_, _| Some(0.0))), ..example() }.derived(by_flow);
    assert_eq!(nothing_flows.scores().row(0), [Some(0.0); 2]);
    let weighted = Document { flow: Some(flow), ..example() }.derived(by_flow);
    assert_eq!(weighted.table, example().table);
    let [first, second] = [0, 1].map(|i| example().table.row(i).to_vec());
    assert_eq!(weighted.scores().row(0), [first[0], first[1].map(|score| score * 0.25)]);
    assert_eq!(weighted.scores().row(1), [Some(0.0), second[1].map(|score| score * 0.25), second[2]]);
    assert_eq!(Document::from_json(&weighted.to_json()).as_ref(), Ok(&weighted));
    // Without flow data, flow weighting is not applied.
    assert_eq!(example().derived(by_flow), example());
    let mut pairs = Document { method: Method { id: "pairs".into(), ..weighted.method.clone() }, ..weighted.clone() };
    let of_pairs = Derivation { compression: Compression::Hyperbolic, weighting: Weighting::Flow, ..Derivation::PAPER };
    assert_eq!(pairs.default_derivation(), of_pairs);
    (pairs.flow, pairs.method.weighting) = (None, Weighting::None);
    assert_eq!(pairs.default_derivation().weighting, Weighting::None);
    let lost = Document { flow: None, ..weighted };
    assert_eq!(Document::from_json(&lost.to_json()), Err(DocumentError::Flow));
}

fn with_joint_effect() -> Document {
    let effect = JointEffect { target: 1, sources: [0, 2], amount: 0.5, either_is_enough: Some("1".into()), only_together: None };
    let alone = Table::from_fn(2, 2, |i, j| Some([[0.5, 1.25, 0.0], [-0.125, 0.1, 1.75]][i][j]));
    let mut document = Document { alone: Some(alone), joint: vec![effect], ..example() };
    document.table.row_mut(1)[0] = Some(0.25);
    document
}

#[test]
fn joint_effects_survive_json_and_can_be_counted_either_way() {
    let document = with_joint_effect();
    assert_eq!(Document::from_json(&document.to_json()).as_ref(), Ok(&document));
    let row = |own| document.with_joint_effects_of(0, own).unwrap().table.row(1).to_vec();
    assert_eq!(row(true), [Some(0.5), Some(0.1), Some(1.75)]);
    assert_eq!(row(false), [Some(0.0), Some(0.1), Some(2.25)]);
    assert_eq!(document.with_joint_effects_of(1, true), Some(document.clone()));
    assert_eq!(example().with_joint_effects_of(0, true), None);
}

#[test]
fn oversized_document_is_rejected() {
    let long = |length: usize| "x".repeat(length);
    let refused = |change: &dyn Fn(&mut Document)| {
        let mut document = with_joint_effect();
        change(&mut document);
        Document::from_json(&document.to_json()).unwrap_err()
    };
    assert_eq!(refused(&|d| d.table.row_mut(1)[0] = Some(1.7e308)), TooLarge::Score.into());
    assert_eq!(refused(&|d| d.alone.as_mut().unwrap().row_mut(1)[0] = Some(-1.7e308)), TooLarge::Score.into());
    assert_eq!(refused(&|d| d.joint[0].amount = 1.7e308), TooLarge::Score.into());
    assert_eq!(refused(&|d| d.support = vec![0.5, -1.7e308]), TooLarge::Score.into());
    assert_eq!(refused(&|d| Arc::make_mut(&mut d.prompt).tokens[0] = 1 << 25), TooLarge::Tokens.into());
    assert_eq!(refused(&|d| d.joint[0].only_together = Some(long(1 << 21))), TooLarge::Text.into());
    assert_eq!(refused(&|d| d.joint = vec![d.joint[0].clone(); 10_001]), TooLarge::Joint.into());
    assert_eq!(refused(&|d| d.manifest.model.name = long(5_000)), TooLarge::Name.into());
    assert_eq!(refused(&|d| d.method.unit = Some(long(5_000))), TooLarge::Name.into());
    let mut document = example();
    let prompt = Arc::make_mut(&mut document.prompt);
    prompt.text.push_str(&long(1 << 20));
    prompt.sentences.last_mut().unwrap()[1] += 1 << 20;
    assert_eq!(Document::from_json(&document.to_json()), Err(DocumentError::TooLarge(TooLarge::Text)));
}

#[test]
fn inconsistent_document_is_rejected() {
    let refused = |change: fn(&mut Document)| {
        let mut document = example();
        change(&mut document);
        Document::from_json(&document.to_json()).unwrap_err()
    };
    assert_eq!(refused(|d| d.format = "cake".into()), DocumentError::Format("cake".into()));
    assert_eq!(Document { version: 9, ..example() }.check(), Err(DocumentError::Version(9)));
    assert_eq!(refused(|d| d.output = vec![2]), DocumentError::Output(2));
    assert_eq!(refused(|d| d.output = vec![1, 1]), DocumentError::OutputOrder);
    assert_eq!(refused(|d| d.output = vec![1, 0]), DocumentError::OutputOrder);
    assert_eq!(Document { output: vec![0, 1], ..example() }.check(), Ok(()));
    assert_eq!(refused(|d| Arc::make_mut(&mut d.prompt).sentences[0][1] = 3), DocumentError::Sentences { passage: "prompt" });
    assert_eq!(refused(|d| d.support = vec![0.5; 3]), DocumentError::Support { support: 3, generated: 2 });
    assert_eq!(refused(|d| d.alone = Some(Table::unmeasured(1, 2))), DocumentError::TableShape { table: (1, 2), text: (2, 2) });
    for (target, sources) in [(2, [0, 1]), (0, [0, 2]), (1, [1, 1])] {
        let mut document = with_joint_effect();
        (document.joint[0].target, document.joint[0].sources) = (target, sources);
        assert_eq!(Document::from_json(&document.to_json()), Err(DocumentError::JointSources));
    }
    assert_eq!(refused(|d| d.table = Table::unmeasured(1, 2)), DocumentError::TableShape { table: (1, 2), text: (2, 2) });
    let unknown = example().to_json().replacen('{', "{\"extra\": 1,", 1);
    assert!(matches!(Document::from_json(&unknown), Err(DocumentError::Json(_))));
}

#[test]
fn truncated_document_is_reported_as_cut_off() {
    let json = example().to_json();
    for length in (1..json.len()).step_by(7).filter(|&length| json.is_char_boundary(length)) {
        assert_eq!(Document::from_json(&json[..length]), Err(DocumentError::CutOff), "{length} bytes");
    }
    assert_eq!(Document::from_json("{\"title\": \"A lesson\", \"ste"), Err(DocumentError::CutOff), "any file");
    assert_eq!(DocumentError::CutOff.to_string(), "this file is damaged; it may have been cut off");
}

#[test]
fn other_json_is_rejected_without_words_of_parser() {
    for other in ["{}", "{\"a\":1}", "{\"format\": 7}", "{hello}", "{\"a\": 1}}", "[1]"] {
        assert_eq!(Document::from_json(other), Err(DocumentError::Unknown), "{other}");
    }
    assert_eq!(Document::from_json("{\"format\": \"cake\", \"layers\": 3}"), Err(DocumentError::Format("cake".into())));
    assert_eq!(DocumentError::Unknown.to_string(), "this is not an explanation document");
}

#[test]
fn invalid_document_is_rejected_with_words_of_parser() {
    let json = example().to_json();
    let error = Document::from_json(&format!("{json}}}")).unwrap_err().to_string();
    assert!(error.starts_with("this explanation document is invalid: trailing characters at line"), "{error}");
    let newer = json.replacen("\"version\": ", "\"extra\": 1, \"version\": 9", 1);
    assert_eq!(Document::from_json(&newer), Err(DocumentError::Version(92)));
}
