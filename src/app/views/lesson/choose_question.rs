use leptos::prelude::*;

use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::message::{LessonMessage, Message};

/// Answers to choose from; the chosen one is judged at once.
#[component]
pub fn ChooseQuestion(ask: String, choices: Vec<String>, right: usize, because: String, language: Option<String>) -> impl IntoView {
    let page = use_page();
    let chosen = Memo::new(move |_| page.with(|state| state.lesson.as_ref().and_then(|open| open.answer().choice)));
    let language_of_choices = language.clone();
    let choice = |(number, text): (usize, String)| {
        view! {
            <li>
                <label class:marked=move || chosen.get() == Some(number)>
                    <input
                        type="radio"
                        name="lesson-choice"
                        data-testid=format!("choose-{}", number + 1)
                        prop:checked=move || chosen.get() == Some(number)
                        on:change=move |_| page.send(Message::Lesson(LessonMessage::Choose(number)))
                    />
                    <span dir="auto" lang=language_of_choices.clone()>{text}</span>
                </label>
            </li>
        }
    };
    let choices = choices.into_iter().enumerate().map(choice).collect_view();
    let reason = (because, language.clone());
    let verdict = move || {
        let (because, language) = &reason;
        let words = |number| if number == right { t!("Yes. {because}", because) } else { t!("No. {because}", because) };
        chosen.get().map(|number| view! { <strong lang=language.clone()>{words(number)}</strong> })
    };
    view! {
        <fieldset class="question">
            <legend dir="auto" lang=language>{ask}</legend>
            <ul class="markable">{choices}</ul>
            <p role="status" dir="auto" data-testid="lesson-verdict">{verdict}</p>
        </fieldset>
    }
}
