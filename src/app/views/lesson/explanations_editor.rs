use leptos::prelude::*;

use super::change::Change;
use crate::app::analysis::lesson_explanations::{label, of_lesson, offered};
use crate::app::analysis::number;
use crate::app::analysis::shared_link::SharedLink;
use crate::app::browser;
use crate::app::i18n::{plural, t};
use crate::app::state::message::{LessonMessage, Message};
use crate::app::views::layout::file_button::FileButton;
use crate::lesson::{MAX_EXPLANATIONS, to_fragment};

const HEAD: &str = "[data-testid='lesson-explanations'] summary";

/// Lists the explanations that the steps of the lesson can show, and lets the author add others.
#[component]
pub fn ExplanationsEditor(change: Change) -> impl IntoView {
    let page = change.page;
    let of_lesson = Memo::new(move |_| page.with(|state| state.lesson().map(|open| of_lesson(&open.lesson))).unwrap_or_default());
    let n = move || of_lesson.with(Vec::len);
    let advice = move || {
        let address = page.with(|state| Some(SharedLink::new(&state.page_address, &to_fragment(&state.lesson()?.lesson))));
        address.map(|link| t!("Link of this lesson: {advice}", advice = link.advice()))
    };
    let row = move |(k, (label, steps)): (usize, (String, Vec<usize>))| {
        let use_of_it = match &steps[..] {
            [] => t!("In no step").to_owned(),
            steps => {
                let names = number::enumerated(steps.iter().map(|at| (at + 1).to_string()));
                plural!(n = steps.len(), "In {n} step: {names}", "In {n} steps: {names}", names)
            }
        };
        let remove = move |_| change.lesson(|lesson, _| lesson.remove_explanation(k));
        let name = label.clone();
        view! {
            <li>
                <span dir="auto">{label}</span>
                <span class="hint">{use_of_it}</span>
                <button
                    type="button"
                    class="quiet"
                    hidden=!steps.is_empty() || n() == 1
                    aria-label=t!("Remove {name}", name)
                    data-testid=format!("lesson-remove-{}", k + 1)
                    on:click=remove
                >
                    {t!("Remove")}
                </button>
            </li>
        }
    };
    view! {
        <details class="fold" data-testid="lesson-explanations">
            <summary>{t!("Explanations of this lesson")}</summary>
            <ol class="explanations">{move || of_lesson.get().into_iter().enumerate().map(row).collect_view()}</ol>
            <p class="hint" role="status" data-testid="lesson-size">
                {move || plural!(n = n(), "{n} explanation.", "{n} explanations.")}
                " "
                {advice}
            </p>
            <Show when=move || n() < MAX_EXPLANATIONS>
                <MoreExplanations change />
            </Show>
        </details>
    }
}

/// Adds an explanation from this session, a file or a link.
#[component]
fn MoreExplanations(change: Change) -> impl IntoView {
    let page = change.page;
    let offered = Memo::new(move |_| {
        let recent_explanations =
            page.with(|state| state.lesson().map(|open| offered(&open.lesson, state.explanation.recent_explanations())));
        recent_explanations.unwrap_or_default()
    });
    let chosen = RwSignal::new(0_usize);
    let add_chosen = move |_| {
        let document = offered.with_untracked(|offered| offered.get(chosen.get_untracked()).or(offered.first()).cloned());
        if let Some(document) = document {
            chosen.set(0);
            // The button disappears with the last offered explanation.
            browser::keep_focus(HEAD);
            change.lesson(|lesson, _| _ = lesson.add_explanations(vec![document]));
        }
    };
    let options = move || {
        let labels = offered.with(|offered| offered.iter().map(label).collect::<Vec<_>>());
        let option = |(k, label)| view! { <option value=k selected=k == chosen.get_untracked()>{label}</option> };
        labels.into_iter().enumerate().map(option).collect_view()
    };
    let link = RwSignal::new(String::new());
    let add_link = move |_| {
        let link = link.get_untracked();
        if !link.trim().is_empty() {
            page.send(LessonMessage::AddLink(link));
        }
    };
    let n = Memo::new(move |_| page.with(|state| state.lesson().map_or(0, |open| open.lesson.explanations.len())));
    // Clear the link when its explanation is added.
    Effect::watch(move || n.get(), move |_, _, _| link.set(String::new()), false);
    view! {
        <div class="choice" hidden=move || offered.with(Vec::is_empty)>
            <label class="long">
                {t!("From this session")}
                " "
                <select
                    dir="auto"
                    data-testid="lesson-offered"
                    on:change=move |event| chosen.set(event_target_value(&event).parse().unwrap_or(0))
                >
                    {options}
                </select>
            </label>
            <button type="button" data-testid="lesson-add-offered" on:click=add_chosen>{t!("Add this explanation")}</button>
        </div>
        <p class="hint" hidden=move || !offered.with(Vec::is_empty)>
            {t!("Other explanations that you open in this session appear here.")}
        </p>
        <div class="choice">
            <label class="long">
                {t!("Link of an explanation")}
                " "
                <input type="text" data-testid="lesson-link" prop:value=link on:input=move |event| link.set(event_target_value(&event)) />
            </label>
            <button
                type="button"
                data-testid="lesson-add-link"
                aria-disabled=move || link.with(|link| link.trim().is_empty()).to_string()
                on:click=add_link
            >
                {t!("Add by its link")}
            </button>
            <FileButton
                label=t!("Add from a file")
                accept=".json,.svg,.png,.html"
                test_id="lesson-file"
                on_files=move |files| page.send_files(files, |files| Message::Lesson(LessonMessage::AddFiles(files)))
            />
        </div>
    }
}
