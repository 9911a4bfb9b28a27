use leptos::ev;
use leptos::html::Details;
use leptos::prelude::*;

use super::examples_bar::ExamplesBar;
use super::model_bar::ModelBar;
use super::settings_form::SettingsForm;
use crate::app::choice::Choice;
use crate::app::run::Run;
use crate::app::state::use_page;

/// The question: prompt, given answer, settings, model. Folded away while a shared explanation is read.
#[component]
pub fn Editor() -> impl IntoView {
    let page = use_page();
    let is_active = move || page.run.with(Run::is_active);
    let explains_given = move || page.given.with(|given| !given.trim().is_empty());
    let on_key = move |event: ev::KeyboardEvent| {
        if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
            event.prevent_default();
            page.explain();
        }
    };
    let (folder, on_toggle) = bound_details(page.editor_is_open);
    view! {
        <details node_ref=folder class="editor card" prop:open=page.editor_is_open on:toggle=on_toggle on:keydown=on_key>
            <summary>
                <h2>"Ask a model"</h2>
            </summary>
            <ModelBar />
            <label class="field">
                <span class="label">"Prompt"</span>
                <textarea
                    data-testid="prompt-input"
                    rows="5"
                    spellcheck="false"
                    placeholder="Some facts, then a question about them. Each sentence becomes one source."
                    prop:value=page.prompt
                    on:input=move |event| page.prompt.set(event_target_value(&event))
                ></textarea>
            </label>
            <ExamplesBar />
            <BuiltInHint />
            <GivenAnswer />
            <SettingsForm />
            <div class="go">
                <button type="button" class="primary" data-testid="explain-button" disabled=is_active on:click=move |_| page.explain()>
                    {move || if explains_given() { "Explain the given answer" } else { "Answer and explain" }}
                </button>
                <span class="hint">
                    <kbd>"Ctrl"</kbd>
                    " + "
                    <kbd>"Enter"</kbd>
                </span>
            </div>
        </details>
    }
}

/// What the built-in model is for, beside a prompt that is none of its examples.
#[component]
fn BuiltInHint() -> impl IntoView {
    let page = use_page();
    let is_needed = move || {
        page.choice.with(|choice| *choice == Choice::BuiltIn)
            && page.prompt.with(|prompt| !prompt.trim().is_empty() && !page.is_example(prompt))
    };
    view! {
        <p class="hint" data-testid="built-in-hint" hidden=move || !is_needed()>
            "The built-in model only knows small problems like the examples. For other texts choose a larger model."
        </p>
    }
}

#[component]
fn GivenAnswer() -> impl IntoView {
    let page = use_page();
    let is_open = RwSignal::new(page.given.with_untracked(|given| !given.is_empty()));
    // An answer that was put here by Stop must be seen.
    Effect::new(move |_| {
        if page.given.with(|given| !given.is_empty()) {
            is_open.set(true);
        }
    });
    let (folder, on_toggle) = bound_details(is_open);
    view! {
        <details node_ref=folder class="fold" prop:open=is_open on:toggle=on_toggle>
            <summary>"Explain a given answer"</summary>
            <div class="field">
                <p class="hint">
                    "The model reads this text as its own answer. Leave it empty to let the model answer. "
                    <button type="button" class="chip" hidden=move || page.given.with(String::is_empty) on:click=move |_| page.given.set(String::new())>
                        "Clear"
                    </button>
                </p>
                <textarea
                    rows="3"
                    data-testid="given-answer"
                    aria-label="Given answer"
                    prop:value=page.given
                    on:input=move |event| page.given.set(event_target_value(&event))
                ></textarea>
            </div>
        </details>
    }
}

/// Keeps a signal equal to what the visitor folds and unfolds.
fn bound_details(is_open: RwSignal<bool>) -> (NodeRef<Details>, impl Fn(ev::Event) + 'static) {
    let folder = NodeRef::<Details>::new();
    let on_toggle = move |_| {
        if let Some(folder) = folder.get_untracked() {
            is_open.set(folder.open());
        }
    };
    (folder, on_toggle)
}
