//! The step on screen. A separate chunk of the page's code.

use leptos::ev;
use leptos::html::H2;
use leptos::prelude::*;

use super::choose_question::ChooseQuestion;
use super::lesson_editor::LessonEditor;
use super::mark_question::MarkQuestion;
use super::sheet_view::PrintButton;
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::message::LessonMessage;
use crate::app::views::layout::lazy::split_off;
use crate::lesson::Question;

split_off!(lesson, fetch_view => view as fn() -> AnyView);

/// Elements that handle arrow keys themselves.
const ARROWS: &str = "[role='grid'], [role='tablist'], .table-scroll, .agreement, .path, .examples";

fn view() -> AnyView {
    let page = use_page();
    let is_edited = Memo::new(move |_| page.with(|state| state.lesson().is_some_and(|open| open.is_edited)));
    let contents = move || match is_edited.get() {
        true => view! { <LessonEditor /> }.into_any(),
        false => view! { <OpenLessonView /> }.into_any(),
    };
    contents.into_any()
}

/// The title and the current step of the lesson.
#[component]
fn OpenLessonView() -> impl IntoView {
    let page = use_page();
    // Include the lesson, because another one may be opened at the same step.
    let place = Memo::new(move |_| page.with(|state| state.lesson().map(|open| (open.lesson.clone(), open.at))));
    let go_to = move |at: usize| page.send(LessonMessage::GoTo(at));
    let on_key = window_event_listener(ev::keydown, move |event| {
        let Some((lesson, at)) = place.get_untracked() else { return };
        let next = at_after_key(&event.key(), at, browser::is_presenting()).filter(|&next| next < lesson.steps.len());
        let is_of_widget =
            if event.key().starts_with("Arrow") { browser::is_within(&event, ARROWS) } else { browser::scrolls(&event, ".table-scroll") };
        if let Some(next) = next.filter(|_| !is_of_widget && browser::is_shortcut(&event)) {
            event.prevent_default();
            go_to(next);
        }
    });
    on_cleanup(move || on_key.remove());
    // Another step is drawn from scratch. Answers change within the step.
    move || {
        let (lesson, at) = place.get()?;
        let n_steps = lesson.steps.len();
        let heading = NodeRef::<H2>::new();
        // Screen reader users continue with the text of the step.
        heading.on_load(|heading| {
            request_animation_frame(move || {
                // The heading can take the focus, because it has a `tabindex`.
                drop(heading.focus());
            });
        });
        Some(view! {
            <h2 node_ref=heading tabindex="-1" data-testid="lesson-step">
                <span dir="auto" lang=lesson.language.clone()>{lesson.title.clone()}</span>
                " "
                <span class="hint">{t!("Step {n} of {total}", n = at + 1, total = n_steps)}</span>
            </h2>
            <StepText />
            <StepQuestion />
            <div class="choice">
                <button type="button" data-testid="lesson-back" disabled=at == 0 on:click=move |_| go_to(at.saturating_sub(1))>
                    {t!("Previous")}
                </button>
                <button
                    type="button"
                    class="primary"
                    data-testid="lesson-next"
                    hidden=at + 1 == n_steps
                    on:click=move |_| go_to(at + 1)
                >
                    {t!("Next")}
                </button>
                <button
                    type="button"
                    class="quiet"
                    data-testid="lesson-end"
                    on:click=move |_| page.send(LessonMessage::End)
                >
                    {t!("End the lesson")}
                </button>
                <PrintButton />
                <button
                    type="button"
                    class="quiet"
                    data-testid="lesson-edit"
                    on:click=move |_| page.send(LessonMessage::Edit(true))
                >
                    {t!("Edit the lesson")}
                </button>
            </div>
        })
    }
}

/// The step that a key moves to from step `at`. Remote controls of presenters send `PageDown` and `PageUp`. For a single reader these keys
/// scroll the page.
fn at_after_key(key: &str, at: usize, is_presenting: bool) -> Option<usize> {
    match key {
        "ArrowRight" => Some(at + 1),
        "ArrowLeft" => at.checked_sub(1),
        "PageDown" if is_presenting => Some(at + 1),
        "PageUp" if is_presenting => at.checked_sub(1),
        _ => None,
    }
}

#[component]
fn StepText() -> impl IntoView {
    let page = use_page();
    let step = untrack(|| page.with(|state| state.lesson().map(|open| (open.step().text.clone(), open.lesson.language.clone()))));
    let (text, language) = step.unwrap_or_default();
    let paragraph = |words: &str| view! { <p dir="auto" lang=language.clone()>{words.to_owned()}</p> };
    text.split("\n\n").map(paragraph).collect_view()
}

#[component]
fn StepQuestion() -> impl IntoView {
    let page = use_page();
    let asked = untrack(|| page.with(|state| state.lesson().map(|open| (open.step().question.clone(), open.lesson.language.clone()))));
    let (question, language) = asked.unwrap_or_default();
    match question {
        None => ().into_any(),
        Some(Question::Mark { ask, count }) => view! { <MarkQuestion ask count language /> }.into_any(),
        Some(Question::Choose { ask, choices, right, because }) => {
            view! { <ChooseQuestion ask choices right because language /> }.into_any()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_always_change_step_page_keys_when_presenting() {
        assert_eq!([at_after_key("ArrowRight", 0, false), at_after_key("ArrowLeft", 2, false)], [Some(1), Some(1)]);
        assert_eq!([at_after_key("ArrowLeft", 0, false), at_after_key("PageDown", 0, false)], [None, None]);
        assert_eq!([at_after_key("PageDown", 0, true), at_after_key("PageUp", 1, true)], [Some(1), Some(0)]);
    }
}
