use leptos::ev;
use leptos::prelude::*;

use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::lesson_history::LessonHistory;
use crate::app::state::message::LessonMessage;

/// Undoes and redoes changes of the lesson, by buttons and by the usual keys. Text fields handle these keys themselves.
#[component]
pub fn HistoryBar() -> impl IntoView {
    let page = use_page();
    let send = move |message| page.send(message);
    let can = move |look: fn(&LessonHistory) -> bool| {
        Memo::new(move |_| page.with(|state| state.lesson().is_some_and(|open| look(&open.history))))
    };
    let (can_undo, can_redo) = (can(LessonHistory::can_undo), can(LessonHistory::can_redo));
    let on_key = window_event_listener(ev::keydown, move |event| {
        let is_command = (event.ctrl_key() || event.meta_key()) && !event.alt_key() && !event.default_prevented();
        let message = of_key(&event.key(), event.shift_key()).filter(|_| is_command && !browser::is_typing());
        if let Some(message) = message {
            event.prevent_default();
            send(message);
        }
    });
    on_cleanup(move || on_key.remove());
    // A button without a further change stays enabled, so that it keeps the focus. `aria-disabled` shows its state.
    let button = move |name: &'static str, test_id: &'static str, can: Memo<bool>, message: LessonMessage| {
        let press = move |_| send(message.clone());
        let is_off = move || (!can.get()).to_string();
        view! { <button type="button" aria-disabled=is_off data-testid=test_id on:click=press>{name}</button> }
    };
    view! {
        <div class="choice">
            {button(t!("Undo"), "lesson-undo", can_undo, LessonMessage::Undo)}
            {button(t!("Redo"), "lesson-redo", can_redo, LessonMessage::Redo)}
        </div>
    }
}

/// The command for a key pressed with Ctrl or Command. The browser reports a capital letter if Shift is pressed.
fn of_key(key: &str, is_shifted: bool) -> Option<LessonMessage> {
    match (key.to_ascii_lowercase().as_str(), is_shifted) {
        ("z", false) => Some(LessonMessage::Undo),
        ("z", true) | ("y", false) => Some(LessonMessage::Redo),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_keys_undo_and_redo() {
        let keys = [("z", false), ("Z", true), ("y", false), ("Y", true), ("x", false)];
        let undo_and_redo = [Some(LessonMessage::Undo), Some(LessonMessage::Redo), Some(LessonMessage::Redo), None, None];
        assert_eq!(keys.map(|(key, is_shifted)| of_key(key, is_shifted)), undo_and_redo);
    }
}
