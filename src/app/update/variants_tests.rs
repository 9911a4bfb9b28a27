//! Tests of changed prompts, and of token counts while the visitor types.

use super::tests::{Page, asked};
use crate::app::analysis::example::document;
use crate::app::state::message::{EditorMessage, Effect, ExplanationMessage, Message};
use crate::worker::engine::protocol::EngineEvent;

#[test]
fn an_answer_without_sentences_that_is_stopped_keeps_its_words() {
    let mut page = Page::explained();
    page.send(ExplanationMessage::LeaveOut(vec![0]));
    let run = asked(&page.send(Message::AnswerVariant));
    page.token(run, "So 5");
    page.engine(run, EngineEvent::Stopped { answer: "So 5".into() });
    let variants = page.look(|state| state.explanation.variants.clone());
    assert!(variants.len() == 1 && !variants[0].is_growing() && !variants[0].is_empty());
    assert!(page.look(|state| state.editor.given_answer.is_empty()), "it is not the answer to the whole prompt");
}

#[test]
fn a_changed_prompt_is_answered_explained_and_opened() {
    let mut page = Page::explained();
    page.send(ExplanationMessage::Reword { source: 0, words: "Z.".into() });
    let effects = page.send(Message::AnswerVariant);
    let run = asked(&effects);
    page.engine(run, EngineEvent::Answered(Box::new(document())));
    let run = asked(&page.send(Message::ExplainVariant(0)));
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert!(page.look(|state| state.explanation.variants[0].explanation.is_some() && state.explanation.comparisons.is_empty()));
    let effects = page.send(Message::OpenVariant(0));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::PushEntry { .. })), "Back leads to the original");
    let mut other = document();
    other.manifest.model.sha256 = "another".into();
    page.opens(other.to_json());
    assert!(page.look(|state| state.explanation.variants.is_empty()));
    page.opens(document().to_json());
    assert_eq!(page.look(|state| (state.explanation.variants.len(), state.explanation.edits.reworded.len())), (1, 1));
}

#[test]
fn tokens_are_counted_after_a_pause_in_typing() {
    let mut page = Page::ready();
    let pause = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::After { message, .. } => Some(Message::clone(message)),
            _ => None,
        })
    };
    let early = pause(&page.send(EditorMessage::PromptTyped("A".into()))).unwrap();
    let late = pause(&page.send(EditorMessage::PromptTyped("A. B".into()))).unwrap();
    assert_eq!(page.send(early), [], "the visitor typed on");
    let count = asked(&page.send(late));
    page.engine(count, EngineEvent::TokensCounted(Some(7)));
    assert_eq!(page.look(|state| *state.editor.tokens), Some(7));
    page.send(EditorMessage::PromptTyped("A. B.".into()));
    assert_eq!(page.look(|state| *state.editor.tokens), None, "those of another prompt");
    assert_eq!(pause(&Page::new().send(EditorMessage::PromptTyped("A".into()))), None, "there is no model to count");
}
