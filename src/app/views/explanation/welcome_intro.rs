use std::time::Duration;

use leptos::prelude::*;

use super::recompute_button::RecomputeButton;
use crate::app::browser;
use crate::app::i18n::{following, t};
use crate::app::page::use_page;
use crate::app::state::library::LibraryMessage;
use crate::app::state::message::EditorMessage;

const PROMPT: &str = "[data-testid='prompt-input']";
const GALLERY: &str = ".gallery:has([data-testid='gallery-1']) h2";

/// Introduction above the welcome explanation: how to read it.
#[component]
pub fn WelcomeIntro() -> impl IntoView {
    let page = use_page();
    let is_asking = move || page.with(|state| *state.editor.is_open);
    let ask = move |_| {
        page.send(EditorMessage::Toggled(true));
        // Wait until the editor is open.
        set_timeout(|| browser::focus(PROMPT), Duration::ZERO);
    };
    view! {
        <div class="intro" data-testid="welcome-intro">
            <h2>{t!("Why did the model give this answer?")}</h2>
            <p>
                {t!("The stronger the color of a sentence, the more the marked sentence depends on it.")}
                <b>{following(t!("Click another sentence of the answer."))}</b>
            </p>
            <button type="button" class="primary" data-testid="try-own-words" hidden=is_asking on:click=ask>
                {t!("Try your own prompt")}
            </button>
        </div>
    }
}

/// Notes below the welcome explanation: its origin and what to do next.
#[component]
pub fn WelcomeNext() -> impl IntoView {
    let page = use_page();
    let show_gallery = |_| {
        browser::scroll_to(GALLERY);
        browser::focus(GALLERY);
    };
    view! {
        <p class="next">
            <span class="hint" data-testid="badge">{t!("Made beforehand with SmolLM2-135M-Instruct.")}</span>
            <RecomputeButton />
            <button type="button" data-testid="more-examples" on:click=show_gallery>
                {t!("More examples")}
            </button>
            <button type="button" data-testid="larger-model" on:click=move |_| page.send(LibraryMessage::Open)>
                {t!("Use a larger model")}
            </button>
        </p>
    }
}
