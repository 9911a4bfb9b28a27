use crate::app::state::message::{EditorMessage, Message};
use crate::app::state::model_choice::ModelChoice;
use leptos::ev;
use leptos::prelude::*;

use super::examples_bar::ExamplesBar;
use super::model_bar::ModelBar;
use super::reading_note::ReadingNote;
use super::settings_form::SettingsForm;
use super::standard_offer::StandardOfferView;
use super::token_count::TokenCount;
use crate::app::analysis::number;
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::place::Place;
use crate::app::views::layout::details_toggle::details_toggle;
use crate::app::views::layout::problem_box::ProblemBox;

/// The editor: prompt, given answer, settings, model. Collapsed while the user reads a shared explanation.
#[component]
pub fn EditorForm() -> impl IntoView {
    let page = use_page();
    let explains_given = move || page.with(|state| !state.editor.given_answer.trim().is_empty());
    let on_key = move |event: ev::KeyboardEvent| {
        if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) && !browser::is_composing(&event) {
            event.prevent_default();
            page.send(Message::Explain);
        }
    };
    let is_open = move || page.with(|state| *state.editor.is_open);
    // The welcome explanation has its own button that opens the editor.
    let is_hidden = Memo::new(move |_| page.with(|state| state.explanation.is_welcome()) && !is_open());
    let (folder, on_toggle) = details_toggle(move |is_open| page.send(EditorMessage::Toggled(is_open)));
    view! {
        <details
            node_ref=folder
            class="editor card"
            data-then="[data-testid='explain-button']"
            hidden=move || is_hidden.get()
            prop:open=is_open
            on:toggle=on_toggle
            on:keydown=on_key
        >
            <summary>
                <h2>{t!("Ask a model")}</h2>
            </summary>
            <ModelBar />
            <label class="field">
                <span class="label">{t!("Prompt")}</span>
                <textarea
                    data-testid="prompt-input"
                    dir="auto"
                    rows="5"
                    spellcheck="false"
                    placeholder=t!("Enter a few facts, then a question about them. Each sentence is measured separately.")
                    prop:value=move || page.with(|state| state.editor.prompt.clone())
                    on:input=move |event| page.send(EditorMessage::PromptTyped(event_target_value(&event)))
                ></textarea>
            </label>
            <ReadingNote />
            <TokenCount />
            <ExamplesBar />
            <BuiltInHint />
            <GivenAnswer />
            <SettingsForm />
            <StandardOfferView />
            <div class="go">
                <button
                    type="button"
                    class="primary"
                    data-testid="explain-button"
                    aria-disabled=move || page.is_busy().to_string()
                    on:click=move |_| page.send(Message::Explain)
                >
                    {move || if explains_given() { t!("Explain this answer") } else { t!("Answer and explain") }}
                </button>
                <ExpectedTime />
                <span class="hint keys">
                    <kbd>{t!("Ctrl")}</kbd>
                    " + "
                    <kbd>{t!("Enter")}</kbd>
                </span>
            </div>
        </details>
        // Outside, so that it is visible when the form is closed or hidden.
        <ProblemBox place=Place::Editor />
    }
}

/// How long a run will take on this device.
#[component]
fn ExpectedTime() -> impl IntoView {
    let page = use_page();
    let words = move || {
        page.with(|state| {
            let loaded = state.engine.loaded().filter(|_| !state.editor.prompt.trim().is_empty())?;
            let [first, whole] = state.expected_seconds(loaded.model.parameters)?.map(number::wait);
            Some(match first == whole {
                true => t!("Expected here for a short answer: {time}", time = whole),
                false => {
                    t!("Expected here for a short answer: {first} until each source is measured alone, {whole} with pairs", first, whole)
                }
            })
        })
    };
    view! { <span class="hint" data-testid="expected-time">{words}</span> }
}

/// States the limits of the built-in model if the prompt is not one of its examples.
#[component]
fn BuiltInHint() -> impl IntoView {
    let page = use_page();
    let is_needed = move || {
        page.with(|state| {
            let prompt = &state.editor.prompt;
            *state.engine.choice == ModelChoice::BuiltIn && !prompt.trim().is_empty() && !state.editor.is_example(prompt)
        })
    };
    view! {
        <p class="hint" data-testid="built-in-hint" hidden=move || !is_needed()>
            {t!("The built-in model only solves small problems like the examples. For other texts, choose a larger model.")}
        </p>
    }
}

#[component]
fn GivenAnswer() -> impl IntoView {
    let page = use_page();
    let is_open = RwSignal::new(untrack(|| page.with(|state| !state.editor.given_answer.is_empty())));
    // An answer that comes with a prompt must be visible.
    Effect::new(move |_| {
        if page.with(|state| !state.editor.given_answer.is_empty()) {
            is_open.set(true);
        }
    });
    let (folder, on_toggle) = details_toggle(move |open| is_open.set(open));
    view! {
        <details node_ref=folder class="fold" prop:open=is_open on:toggle=on_toggle>
            <summary>{t!("Explain an answer of your own")}</summary>
            <div class="field">
                <p class="hint">
                    {t!("The model treats this text as its own answer. Leave the field empty to let the model answer.")}
                    " "
                    <button
                        type="button"
                        class="chip"
                        hidden=move || page.with(|state| state.editor.given_answer.is_empty())
                        on:click=move |_| page.send(EditorMessage::GivenAnswerTyped(String::new()))
                    >
                        {t!("Clear")}
                    </button>
                </p>
                <textarea
                    rows="3"
                    data-testid="given-answer"
                    dir="auto"
                    aria-label=t!("Answer to explain")
                    prop:value=move || page.with(|state| state.editor.given_answer.clone())
                    on:input=move |event| page.send(EditorMessage::GivenAnswerTyped(event_target_value(&event)))
                ></textarea>
            </div>
        </details>
    }
}
