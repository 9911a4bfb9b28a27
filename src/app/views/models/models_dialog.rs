use leptos::html::Dialog;
use leptos::prelude::*;

use super::dialog_contents;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::library::LibraryMessage;
use crate::app::views::layout::icon::{Icon, IconView};
use crate::app::views::layout::lazy::{LazyPart, LazyView};

/// All models there are to choose from, and what is known of the one that was asked for.
#[component]
pub fn ModelsDialog() -> impl IntoView {
    let page = use_page();
    let is_open = Memo::new(move |_| page.with(|state| *state.library.is_open));
    let close = move || page.send_library(LibraryMessage::Close);
    let contents = LazyPart::new(dialog_contents::fetch);
    let show = |contents: fn() -> AnyView| contents();
    let dialog = NodeRef::<Dialog>::new();
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        match (is_open.get(), dialog.open()) {
            // It fails only for a dialog that is open.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    view! {
        <dialog node_ref=dialog class="models" aria-labelledby="models-title" data-testid="models" on:close=move |_| close()>
            <Show when=move || is_open.get()>
                <div class="line">
                    <h2 id="models-title">{t!("Models")}</h2>
                    <button type="button" class="quiet close" aria-label=t!("Close") data-testid="models-close" on:click=move |_| close()>
                        <IconView icon=Icon::Close />
                    </button>
                </div>
                <LazyView part=contents view=show />
            </Show>
        </dialog>
    }
}
