//! Tests of prompts that are conversations.

use super::tests::{Page, asked, requests};
use crate::app::analysis::example::{document, with_explained_turn};
use crate::app::state::State;
use crate::app::state::editor::Editor;
use crate::app::state::message::{EditorMessage, ExplanationMessage, Message};
use crate::explanation::{Document, Passage, Speaker, Turn};
use crate::request::{DeletionCurves, EarlierAnswers, Reading};
use crate::table::Table;
use crate::worker::engine::protocol::{EngineEvent, EngineRequest};

const CONVERSATION: &str = "User: A.\nAssistant: B.\nUser: C?";

/// The example as if its prompt were a system message and the user's turn.
fn with_turns() -> Document {
    let turns = [Speaker::System, Speaker::User].map(|role| Turn::given(role, 1));
    Document { turns: turns.into(), ..document() }.versioned()
}

/// The example after an earlier answer that is given.
fn with_given_answer() -> Document {
    let turns = [Speaker::User, Speaker::Assistant, Speaker::User].map(|role| Turn::given(role, 1));
    let prompt = Passage::new("A. B. X.", &[0..3, 3..6, 6..8], vec![2; 3]);
    let table = Table::from_fn(3, 4, |_, _| Some(0.5));
    Document { prompt: prompt.into(), table, turns: turns.into(), ..document() }.versioned()
}

#[test]
fn conversation_is_recognized_unless_visitor_declines() {
    let mut page = Page::ready();
    page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
    assert_eq!(page.look(|state| (state.editor.n_turns(), state.editor.reading())), (Some(3), Reading::Conversation));
    page.send(EditorMessage::ReadAsText(true));
    assert_eq!(Page::question(&page.send(Message::Explain)).reading, Reading::Text);
    let mut page = Page::ready();
    page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
    assert_eq!(Page::question(&page.send(Message::Explain)).reading, Reading::Conversation);
}

#[test]
fn choice_ends_with_its_conversation() {
    let mut page = Page::ready();
    page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
    page.send(EditorMessage::ReadAsText(true));
    page.send(EditorMessage::PromptTyped(format!("{CONVERSATION} D?")));
    assert_eq!(page.look(|state| state.editor.reading()), Reading::Text);
    page.send(EditorMessage::PromptTyped("A.".into()));
    page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
    assert_eq!(page.look(|state| state.editor.reading()), Reading::Conversation);
    let settings = page.look(|state| state.editor.settings.clone());
    page.send(EditorMessage::SettingsChanged(crate::app::state::settings::Settings { use_template: false, ..settings }));
    assert_eq!(page.look(|state| (state.editor.n_turns(), state.editor.reading())), (None, Reading::Text));
}

#[test]
fn recomputed_document_asks_the_same_conversation() {
    let mut page = Page::ready();
    page.opens(with_turns().to_json());
    let question = Page::question(&page.send(Message::Recompute));
    assert_eq!((question.prompt.as_str(), question.reading), ("System: A.\n\nUser: B.", Reading::Conversation));
    assert!(page.look(|state| state.editor.is_prompt_of(&with_turns()) && state.editor.reading() == Reading::Conversation));
}

#[test]
fn recomputed_text_with_labels_stays_text() {
    let mut labelled = document();
    let prompt = std::sync::Arc::make_mut(&mut labelled.prompt);
    (prompt.text, prompt.sentences) = ("User: A.\nAI: B.".into(), vec![[0, 9], [9, 15]]);
    let mut page = Page::ready();
    page.opens(labelled.to_json());
    assert_eq!(Page::question(&page.send(Message::Recompute)).reading, Reading::Text);
    assert_eq!(page.look(|state| (state.editor.n_turns(), state.editor.reading())), (Some(2), Reading::Text));
}

#[test]
fn next_turn_continues_conversation_and_keeps_own_text() {
    let mut page = Page::ready();
    page.opens(document().to_json());
    page.send(Message::NextTurn);
    assert_eq!(page.look(|state| state.editor.prompt.clone()), "User: A. B.\n\nAssistant: C. D. E. F.\n\nUser: ");
    assert!(page.look(|state| *state.editor.is_open && state.explanation.document().is_some()));
    page.send(EditorMessage::PromptTyped("My own.".into()));
    page.opens(with_turns().to_json());
    page.send(Message::NextTurn);
    let text = page.look(|state| state.editor.prompt.clone());
    assert_eq!(text, "System: A.\n\nUser: B.\n\nAssistant: C. D. E. F.\n\nUser: ");
    page.send(EditorMessage::RestoreSetAside);
    assert_eq!(page.look(|state| state.editor.prompt.clone()), "My own.");
}

#[test]
fn earlier_answers_are_explained_unless_visitor_declines() {
    let mut page = Page::ready();
    page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
    assert!(page.look(|state| state.editor.has_earlier_answers()));
    assert_eq!(Page::question(&page.send(Message::Explain)).earlier_answers, EarlierAnswers::Explained);
    let mut page = Page::ready();
    page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
    page.send(EditorMessage::ExplainEarlier(false));
    page.send(EditorMessage::PromptTyped(format!("{CONVERSATION} D?")));
    assert_eq!(Page::question(&page.send(Message::Explain)).earlier_answers, EarlierAnswers::Given);
    let mut page = Page::ready();
    page.send(EditorMessage::PromptTyped("System: A.\nUser: B?".into()));
    assert!(!page.look(|state| state.editor.has_earlier_answers()));
    assert_eq!(Page::question(&page.send(Message::Explain)).earlier_answers, EarlierAnswers::Given);
}

#[test]
fn choice_about_earlier_answers_ends_with_its_conversation() {
    let mut page = Page::ready();
    page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
    page.send(EditorMessage::ExplainEarlier(false));
    page.send(EditorMessage::PromptTyped("A.".into()));
    page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
    assert!(page.look(|state| *state.editor.explains_earlier));
}

#[test]
fn choice_about_earlier_answers_ends_with_first_turn() {
    let explains_after = |typed: &[&str]| {
        let mut page = Page::ready();
        page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
        page.send(EditorMessage::ExplainEarlier(false));
        typed.iter().for_each(|text| drop(page.send(EditorMessage::PromptTyped((*text).into()))));
        page.look(|state| *state.editor.explains_earlier)
    };
    let answered = "User: A.\nAssistant: B.\nUser: C?\nAssistant: D.";
    let [empty, asked] = ["\nUser:", "\nUser: E?"].map(|turn| format!("{answered}{turn}"));
    assert!(!explains_after(&[answered, &empty, &asked]), "the same conversation goes on");
    for other in ["User: Z.\nAssistant: B.\nUser: C?", "User: Z.\nAssistant: B.", "User: Z.\nAssistant: B.\nUser:"] {
        assert!(explains_after(&[other]), "{other}");
    }
}

#[test]
fn own_texts_are_set_aside_and_come_back() {
    let mut page = Page::ready();
    let prompt = |page: &Page| page.look(|state| state.editor.prompt.clone());
    for text in ["A text of the page.", "Another one."] {
        page.send(EditorMessage::EditPrompt(text.into()));
    }
    let (stored, shown) = page.look(|state| (state.editor.replaced_texts(), state.editor.prompt.clone()));
    let after_reload = Editor::new(shown, String::new(), Some(&stored));
    assert!(after_reload.own_texts().is_none() && after_reload.set_aside.as_ref().is_some_and(|own| own.prompt == "A. B."));
    page.send(EditorMessage::RestoreSetAside);
    assert_eq!(prompt(&page), "A. B.");
    assert!(page.look(|state| state.editor.set_aside.is_none()), "the page's own text is not kept");
    page.send(EditorMessage::EditPrompt("A text of the page.".into()));
    page.send(EditorMessage::PromptTyped("C.".into()));
    for own in ["A. B.", "C.", "A. B."] {
        page.send(EditorMessage::RestoreSetAside);
        assert_eq!(prompt(&page), own, "the two texts change places");
    }
}

#[test]
fn own_text_comes_back_with_its_choice() {
    let mut page = Page::ready();
    page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
    page.send(EditorMessage::ExplainEarlier(false));
    page.send(EditorMessage::EditPrompt("An example.".into()));
    assert!(page.look(|state| *state.editor.explains_earlier));
    page.send(EditorMessage::RestoreSetAside);
    assert!(page.look(|state| *state.editor.prompt == CONVERSATION && !*state.editor.explains_earlier));
}

#[test]
fn edited_prompt_keeps_choice_about_earlier_answers() {
    for (document, are_explained) in [(with_given_answer(), false), (with_explained_turn(), true)] {
        let mut page = Page::ready();
        page.opens(document.to_json());
        page.send(ExplanationMessage::Reword { source: 0, words: "Z.".into() });
        page.send(Message::AnswerVariant);
        page.send(Message::EditVariant(0));
        let editor = |state: &State| (state.editor.prompt.starts_with("User: Z."), *state.editor.is_open, *state.editor.explains_earlier);
        assert_eq!(page.look(editor), (true, true, are_explained));
    }
}

#[test]
fn explained_answers_are_asked_and_answered_again() {
    let mut page = Page::ready();
    page.opens(with_explained_turn().to_json());
    let question = Page::question(&page.send(Message::Recompute));
    assert_eq!((question.prompt.as_str(), question.answer.as_deref()), ("User: A.\n\nAssistant: C.\n\nUser: B.", Some("D. E. F.")));
    assert_eq!(question.earlier_answers, EarlierAnswers::Explained);
    assert!(page.look(|state| state.editor.is_prompt_of(&with_explained_turn()) && *state.editor.explains_earlier));
}

#[test]
fn given_answers_stay_given_when_recomputed() {
    let turns = [Turn::given(Speaker::Assistant, 1), Turn::given(Speaker::User, 1)];
    let mut page = Page::ready();
    page.opens(Document { turns: turns.into(), ..document() }.versioned().to_json());
    assert_eq!(Page::question(&page.send(Message::Recompute)).earlier_answers, EarlierAnswers::Given);
    assert!(page.look(|state| *state.editor.explains_earlier), "there is nothing to choose");
    let mut page = Page::ready();
    page.opens(with_given_answer().to_json());
    assert_eq!(Page::question(&page.send(Message::Recompute)).earlier_answers, EarlierAnswers::Given);
    assert!(!page.look(|state| *state.editor.explains_earlier));
}

#[test]
fn deletion_test_is_about_last_answer() {
    let mut page = Page::ready();
    page.opens(Document { output: vec![0], ..with_explained_turn() }.to_json());
    let run = asked(&page.send(Message::MeasureDeletion));
    let scores = vec![0.0, -1.0, -2.0];
    page.engine(run, EngineEvent::DeletionCurves(DeletionCurves { curves: vec![scores.clone(); 2], random: vec![scores] }));
    let tested = page.look(|state| state.explanation.deletion_test.as_ref().map(|test| test.output.clone()));
    assert_eq!(tested.as_deref(), Some("G4"));
}

#[test]
fn next_turn_explains_all_answers() {
    let mut page = Page::ready();
    page.opens(with_explained_turn().to_json());
    page.send(Message::NextTurn);
    let text = page.look(|state| state.editor.prompt.clone());
    assert_eq!(text, "User: A.\n\nAssistant: C.\n\nUser: B.\n\nAssistant: D. E. F.\n\nUser: ");
    page.send(EditorMessage::PromptTyped(format!("{text}So?")));
    assert_eq!(Page::question(&page.send(Message::Explain)).earlier_answers, EarlierAnswers::Explained);
}

#[test]
fn tokens_are_counted_as_the_prompt_is_read() {
    let mut page = Page::ready();
    page.send(EditorMessage::PromptTyped(CONVERSATION.into()));
    let changes = page.look(|state| state.editor.token_changes);
    let effects = page.send(EditorMessage::CountTokens(changes));
    let [counted] = requests(&effects)[..] else { panic!("one request: {effects:?}") };
    assert!(matches!(counted.body, EngineRequest::CountTokens { reading: Reading::Conversation, .. }));
}
