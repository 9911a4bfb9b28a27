//! Tests of runs that end too early or are refused, as sequences of messages.

use super::tests::{Page, answered, asked, unmeasured};
use crate::app::analysis::example::document;
use crate::app::state::library::LibraryMessage;
use crate::app::state::message::{EditorMessage, Effect, Fetch, Message};
use crate::app::state::place::Place;
use crate::app::state::settings::{Matters, RefusedNumber, Settings};
use crate::explanation::{Answer, AnswerStop, Document, Manifest, Sampling};
use crate::problem::Problem;
use crate::worker::engine::protocol::EngineEvent;
use glasscage_message::message;

fn place(page: &Page) -> Place {
    page.look(|state| state.problem_place)
}

/// A page whose run was stopped after two tokens.
fn stopped() -> Page {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.token(run, "So ");
    page.token(run, "4");
    page.send(Message::Stop);
    page.engine(run, EngineEvent::Stopped);
    page
}

#[test]
fn stopped_answer_waits_and_is_not_given_answer() {
    let mut page = stopped();
    assert!(page.look(|state| state.editor.given_answer.is_empty()));
    let effects = page.send(Message::ContinueAnswer);
    let (run, whole) = (asked(&effects), Page::question(&effects));
    assert_eq!((whole.answer, whole.max_tokens), (None, 256));

    // Stopping earlier than before loses nothing.
    page.token(run, "So ");
    page.send(Message::Stop);
    page.engine(run, EngineEvent::Stopped);
    assert_eq!(page.look(|state| state.engine.unfinished.as_ref().map(|unfinished| unfinished.tokens)), Some(2));
    let run = asked(&page.send(Message::ContinueAnswer));
    page.engine(run, answered(unmeasured()));
    assert!(page.look(|state| state.engine.unfinished.is_none()));

    let so_far = Page::question(&stopped().send(Message::ExplainSoFar));
    assert_eq!((so_far.answer, so_far.max_tokens), (None, 2));
}

#[test]
fn failed_run_keeps_answer_next_run_restarts() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.token(run, "So ");
    page.engine(run, EngineEvent::Failed(Problem::new(message!("broken"), message!("again"))));
    assert_eq!(page.look(|state| state.engine.unfinished.as_ref().map(|unfinished| unfinished.tokens)), Some(1));
    assert_eq!(place(&page), Place::Editor);
    assert_eq!(Page::question(&page.send(Message::Explain)).answer, None);
}

fn by_masked_lm(page: &mut Page) -> Vec<Effect> {
    page.send(EditorMessage::SettingsChanged(Settings { method: "reagent-mlm", ..Settings::default() }));
    page.send(Message::Explain)
}

#[test]
fn method_without_masked_model_is_refused_before_run() {
    let mut page = Page::explained();
    assert!(by_masked_lm(&mut page).is_empty());
    assert!(page.problem().contains("needs a masked language model") && place(&page) == Place::Editor);
    assert!(page.shown().is_some(), "what was on screen stays");
    assert!(page.send(Message::CompareMethod("reagent-mlm".into())).is_empty());
    assert_eq!(place(&page), Place::Explanation);
}

#[test]
fn settings_that_cannot_be_used_start_no_run() {
    let mut page = Page::ready();
    let refused = RefusedNumber { label: "Maximum answer length (tokens)", matters: Matters::Always, allowed: "a whole number".into() };
    page.send(EditorMessage::SettingsChanged(Settings { refused: vec![refused], ..Settings::default() }));
    assert!(page.send(Message::Explain).is_empty());
    assert!(page.problem().contains("Maximum answer length") && place(&page) == Place::Editor);
}

#[test]
fn lengthen_doubles_token_limit_of_cut_answer() {
    let mut page = Page::ready();
    let answer = Answer::Generated {
        sampling: Sampling::GREEDY,
        max_tokens: 300,
        thinking: None,
        stop: AnswerStop::Length,
        warning: None,
        branches: Vec::new(),
    };
    let manifest = Manifest { answer, ..document().manifest };
    let cut = Document { manifest, ..document() };
    page.opens(cut.to_json());
    assert_eq!(Page::question(&page.send(Message::RaiseTokenLimit)).max_tokens, 600);

    let mut by_another = Page::ready();
    let mut other = cut;
    other.manifest.model.sha256 = "another".into();
    by_another.opens(other.to_json());
    assert_eq!(by_another.send(Message::RaiseTokenLimit), [Effect::Fetch(Fetch::Registry)]);
    by_another.send(Message::Fetched(Fetch::Registry, None));
    assert!(by_another.problem().starts_with("This explanation was made by another model"));
}

#[test]
fn another_model_does_not_continue_a_stopped_answer() {
    let mut page = stopped();
    page.send(LibraryMessage::UseStored { id: "ab".into(), name: "Other".into() });
    assert_eq!(page.send(Message::ContinueAnswer), []);
}
