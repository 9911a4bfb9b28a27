//! Handles the messages of the viewer: those that only need the explanation on screen.

use leptos::prelude::untrack;

use crate::app::state::State;
use crate::app::state::message::{Effect, HostRequest, Message};
use crate::app::state::opened::Opened;
use crate::app::state::origin::Origin;
use glasscage_message::message;

/// Handles one message and returns the effects to carry out.
pub fn update(state: &mut State, message: Message) -> Vec<Effect> {
    untrack(|| handle(state, message));
    state.outbox.take_effects()
}

fn handle(state: &mut State, message: Message) {
    match message {
        Message::Host(HostRequest::Open(text)) => open(state, &text),
        Message::Host(HostRequest::Choose(rows)) => state.explanation.choose(rows),
        Message::Explanation(message) => state.explanation.update(message),
        Message::Save { name, media_type, bytes } => state.emit(Effect::SaveFile { name, media_type, bytes }),
        Message::SaveRefused => {
            state.fail_with(message!("The browser did not save the file"), message!("Allow downloads for this page, then try again"));
        }
        Message::DismissProblem => *state.problem = None,
        // The other messages need features that the viewer does not have.
        _ => {}
    }
}

/// Shows the explanation in `text`, which is its JSON or its link.
fn open(state: &mut State, text: &str) {
    match Opened::from_bytes(text.as_bytes(), Origin::Link) {
        Ok(Opened::Explanation(document, origin)) => {
            *state.problem = None;
            *state.n_opened += 1;
            state.explanation.show(*document, origin);
        }
        Ok(Opened::Lesson(..)) => state.fail_with(message!("This is a lesson"), message!("Open it in Glasscage")),
        Err(problem) => state.fail_with(problem, message!("Ask for a new link, or for the saved JSON file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;
    use crate::app::state::lesson::tests::lesson;
    use crate::app::state::message::ExplanationMessage;
    use crate::explanation::to_fragment;

    fn opened(text: String) -> State {
        let mut state = State::viewer();
        assert_eq!(update(&mut state, Message::Host(HostRequest::Open(text))), []);
        state
    }

    #[test]
    fn viewer_opens_json_link_and_fragment() {
        let fragment = to_fragment(&document());
        for text in [document().to_json(), format!("https://example.org/page/?x#{fragment}"), format!("#{fragment}"), fragment.clone()] {
            let state = opened(text);
            assert!(state.problem.is_none(), "{:?}", *state.problem);
            assert_eq!(state.explanation.document().map(|shown| &shown.prompt), Some(&document().prompt));
        }
    }

    #[test]
    fn invalid_explanation_shows_problem_and_keeps_screen() {
        for text in ["{}", "#g3.damaged", "#utm_source=x", "", &lesson().to_json()] {
            let mut state = opened(document().to_json());
            update(&mut state, Message::Host(HostRequest::Open(text.into())));
            assert!(state.problem.is_some() && state.explanation.document().is_some(), "{text}");
        }
    }

    #[test]
    fn embedding_page_and_reader_can_select_sentences() {
        let mut state = opened(document().to_json());
        let mut after = |message| {
            update(&mut state, message);
            state.explanation.output.clone()
        };
        assert_eq!(after(Message::Host(HostRequest::Choose(vec![1, 0, 1, 99]))), [0, 1]);
        assert_eq!(after(Message::Host(HostRequest::Choose(vec![99]))), [0, 1]);
        assert_eq!(after(ExplanationMessage::Select { row: 0, extend: false }.into()), [0]);
    }

    #[test]
    fn model_actions_do_nothing_in_viewer() {
        let mut state = opened(document().to_json());
        for message in [Message::Explain, Message::Recompute, Message::CopyLink, Message::GoHome, Message::AnswerVariant] {
            assert_eq!(update(&mut state, message), []);
        }
    }
}
