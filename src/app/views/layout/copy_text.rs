use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::HtmlTextAreaElement;

use crate::app::browser;
use crate::app::i18n::t;

/// Whether the text was copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copied {
    NotAsked,
    Done,
    /// The browser refused, so the visitor copies the text by hand.
    Refused,
}

/// A button that copies a text, and a field from which the visitor can copy it by hand. Labels come with test ids.
#[component]
pub fn CopyText(
    text: Signal<String>,
    button: (&'static str, &'static str),
    field: (&'static str, &'static str),
    /// Show the field before the browser has refused to copy.
    #[prop(optional)]
    shows_field: bool,
) -> impl IntoView {
    let copied = RwSignal::new(Copied::NotAsked);
    Effect::new(move |_| {
        text.track();
        copied.set(Copied::NotAsked);
    });
    let copy = move |_| {
        let text = text.get_untracked();
        spawn_local(async move { copied.set(if browser::copy(&text).await { Copied::Done } else { Copied::Refused }) });
    };
    let select_all = |event: ev::FocusEvent| event_target::<HtmlTextAreaElement>(&event).select();
    let words = move || match copied.get() {
        Copied::NotAsked => "",
        Copied::Done => t!("Copied"),
        Copied::Refused => t!("The browser did not copy the text. Copy it from the field."),
    };
    view! {
        <Show when=move || shows_field || copied.get() == Copied::Refused>
            <textarea
                readonly
                rows="5"
                aria-label=field.0
                data-testid=field.1
                prop:value=move || text.get()
                on:focus=select_all
            ></textarea>
        </Show>
        <p class="side-by-side">
            <button type="button" data-testid=button.1 on:click=copy>{button.0}</button>
            <span role="status">{words}</span>
        </p>
    }
}
