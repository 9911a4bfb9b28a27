use leptos::prelude::*;

use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::message::LessonMessage;

/// A multiple-choice question. The chosen answer is judged at once. The reason appears only on request, because it reveals the right
/// answer.
#[component]
pub fn ChooseQuestion(ask: String, choices: Vec<String>, right: usize, because: String, language: Option<String>) -> impl IntoView {
    let page = use_page();
    let chosen = Memo::new(move |_| page.with(|state| state.lesson().and_then(|open| open.answer().choice)));
    let language_of_choices = language.clone();
    let choice = |(number, text): (usize, String)| {
        view! {
            <li>
                <label
                    class:marked=move || chosen.get() == Some(number)
                    class:wrong=move || chosen.get() == Some(number) && number != right
                >
                    <input
                        type="radio"
                        name="lesson-choice"
                        data-testid=format!("choose-{}", number + 1)
                        prop:checked=move || chosen.get() == Some(number)
                        on:change=move |_| page.send(LessonMessage::Choose(number))
                    />
                    <span dir="auto" lang=language_of_choices.clone()>{text}</span>
                </label>
            </li>
        }
    };
    let choices = choices.into_iter().enumerate().map(choice).collect_view();
    let wants_reason = RwSignal::new(false);
    let reason = (because, language.clone());
    let say = move |_| {
        // The button disappears, so move the focus to the verdict.
        browser::keep_focus("[data-testid='lesson-verdict']");
        wants_reason.set(true);
    };
    let verdict = move || {
        let (because, language) = &reason;
        let is_right = chosen.get()? == right;
        let words = match (is_right, wants_reason.get()) {
            (true, _) => t!("Yes. {because}", because),
            (false, true) => t!("No. {because}", because),
            (false, false) => t!("No, not this one.").into(),
        };
        let why = (!is_right && !wants_reason.get()).then(|| {
            view! {
                " "
                <button type="button" class="quiet" data-testid="lesson-why" on:click=say>
                    {t!("Why not?")}
                </button>
            }
        });
        let class = if is_right { "right" } else { "wrong" };
        Some(view! {
            <strong class=class lang=language.clone()>{words}</strong>
            {why}
        })
    };
    view! {
        <fieldset class="question">
            <legend dir="auto" lang=language>{ask}</legend>
            <ul class="markable">{choices}</ul>
            <p role="status" tabindex="-1" dir="auto" data-testid="lesson-verdict">{verdict}</p>
        </fieldset>
    }
}
