use leptos::ev;
use leptos::prelude::*;

use super::icon::{Icon, IconView};
use crate::app::browser;
use crate::app::i18n::t;

const KEY: &str = "p";

/// Toggles large type and strong contrast for a projector, by this button or the key P.
#[component]
pub fn PresentButton() -> impl IntoView {
    let is_on = RwSignal::new(false);
    Effect::new(move |_| browser::set_presenting(is_on.get()));
    let toggle = move || is_on.update(|is_on| *is_on = !*is_on);
    let on_key = window_event_listener(ev::keydown, move |event| {
        if event.key() == KEY && browser::is_shortcut(&event) {
            toggle();
        }
    });
    on_cleanup(move || on_key.remove());
    view! {
        <button
            type="button"
            class="quiet square"
            title=t!("Large type for a projector (key P)")
            aria-label=t!("Large type")
            aria-pressed=move || is_on.get().to_string()
            data-testid="present"
            on:click=move |_| toggle()
        >
            <IconView icon=Icon::Present />
        </button>
    }
}
