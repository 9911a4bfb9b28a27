//! Tests of contrasts, as sequences of messages.

use super::tests::{Page, asked, requests};
use crate::app::analysis::example::document;
use crate::app::state::message::{Effect, Fetch, Message};
use crate::explanation::{Contrast, Document};
use crate::worker::engine::protocol::{EngineEvent, EngineRequest};
use crate::worker::envelope::Envelope;

/// Compares "E." with this text, after two prompt sentences and two steps.
fn contrast(alternative: &str) -> Contrast {
    Contrast { span: [6, 8], alternative: alternative.into(), log_probabilities: [-0.25, -3.5], effects: vec![0.5, 0.0, 0.0, -1.5] }
}

fn compare(alternative: &str) -> Message {
    Message::MeasureContrast { mark: [6, 8], alternative: alternative.into() }
}

fn alternatives(page: &Page) -> Vec<String> {
    page.look(|state| {
        let document = state.explanation.document().expect("an explanation");
        document.contrasts.iter().map(|contrast| contrast.alternative.clone()).collect()
    })
}

#[test]
fn contrasts_are_kept_in_document_and_history() {
    let mut page = Page::explained();
    let effects = page.send(compare("X"));
    let [Envelope { body: EngineRequest::MeasureContrast { question, mark, alternative }, .. }] = requests(&effects)[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((question.answer.as_deref(), *mark, &**alternative), (Some("C. D. E. F."), [6, 8], "X"));
    assert!(page.send(compare("Y")).is_empty(), "a run is in progress");
    let effects = page.engine(asked(&effects), EngineEvent::Contrast(contrast("X")));
    assert!(matches!(&effects[..], [Effect::ReplaceEntry { text: Some(_), .. }]), "{effects:?}");
    for alternative in ["Y", "X"] {
        let run = asked(&page.send(compare(alternative)));
        page.engine(run, EngineEvent::Contrast(contrast(alternative)));
    }
    assert_eq!(alternatives(&page), ["Y", "X"], "the same texts count once");
    let shared = page.look(|state| state.explanation.selected_document().expect("an explanation"));
    assert_eq!(Document::from_json(&shared.to_json()).map(|document| document.version), Ok(3));
}

#[test]
fn stopped_contrast_changes_nothing() {
    let mut page = Page::explained();
    let run = asked(&page.send(compare("X")));
    page.send(Message::Stop);
    page.engine(run, EngineEvent::Stopped);
    assert!(alternatives(&page).is_empty() && !page.run().is_active() && page.problem().is_empty());
}

#[test]
fn contrast_of_other_sentences_is_a_problem() {
    let mut page = Page::explained();
    let run = asked(&page.send(compare("X")));
    page.engine(run, EngineEvent::Contrast(Contrast { effects: vec![0.5], ..contrast("X") }));
    assert!(page.problem().starts_with("This explanation splits the text into other sentences"), "{}", page.problem());
    assert!(alternatives(&page).is_empty() && !page.run().is_active());
}

#[test]
fn contrast_needs_model_that_made_the_explanation() {
    let mut page = Page::ready();
    let mut shared = Document { contrasts: vec![contrast("X")], ..document() };
    shared.manifest.model.sha256 = "another".into();
    page.opens(shared.to_json());
    assert_eq!(alternatives(&page), ["X"], "it is shown without the model");
    assert_eq!(page.send(compare("Y")), [Effect::Fetch(Fetch::Registry)]);
    assert!(requests(&page.send(Message::Fetched(Fetch::Registry, None))).is_empty());
    assert!(page.problem().starts_with("This explanation was made by another model"));
}

#[test]
fn recomputed_explanation_measures_its_contrasts_again() {
    let mut page = Page::ready();
    let shared = Document { contrasts: vec![contrast("X"), contrast("Y")], ..document() };
    page.opens(shared.to_json());
    let run = asked(&page.send(Message::Recompute));
    let mut effects = page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert!(alternatives(&page).is_empty(), "they are not measured yet");
    for expected in ["X", "Y"] {
        let [Envelope { id, body: EngineRequest::MeasureContrast { mark, alternative, .. } }] = requests(&effects)[..] else {
            panic!("{effects:?}")
        };
        assert_eq!((*mark, &**alternative), ([6, 8], expected));
        let (id, measured) = (*id, Contrast { log_probabilities: [-0.5, -3.0], ..contrast(expected) });
        effects = page.engine(id, EngineEvent::Contrast(measured));
    }
    assert!(requests(&effects).is_empty() && !page.run().is_active());
    assert_eq!(alternatives(&page), ["X", "Y"]);
    let numbers = page.look(|state| state.explanation.document().unwrap().contrasts[1].log_probabilities);
    assert_eq!(numbers, [-0.5, -3.0], "the new ones");
    assert!(page.look(|state| state.explanation.reproduction.is_some()));
}

#[test]
fn contrasts_of_another_answer_are_not_measured_again() {
    let mut page = Page::ready();
    page.opens(Document { contrasts: vec![contrast("X")], ..document() }.to_json());
    let run = asked(&page.send(Message::Recompute));
    let mut other = document();
    other.generation = crate::explanation::Passage::new("C. D. E. G.", &[0..3, 3..6, 6..9, 9..11], vec![2; 4]).into();
    let effects = page.engine(run, EngineEvent::Explained { document: Box::new(other), problem: None });
    assert!(requests(&effects).is_empty() && alternatives(&page).is_empty() && !page.run().is_active());
}
