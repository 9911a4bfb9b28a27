use leptos::ev;
use leptos::html::Dialog;
use leptos::prelude::*;

use super::icon::{Icon, IconView};
use crate::app::i18n::t;

/// A dialog over the page. Its contents are created when it opens.
#[component]
pub fn DialogBox(
    title: &'static str,
    test_id: &'static str,
    #[prop(into)] is_open: Signal<bool>,
    on_close: impl Fn() + Copy + Send + Sync + 'static,
    children: ChildrenFn,
) -> impl IntoView {
    let dialog = NodeRef::<Dialog>::new();
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        match (is_open.get(), dialog.open()) {
            // `show_modal` fails only if the dialog is already open.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    // Back and Forward change the page below the dialog.
    let on_visit = window_event_listener(ev::popstate, move |_| {
        if is_open.get_untracked() {
            on_close();
        }
    });
    on_cleanup(move || on_visit.remove());
    // Keys belong to the dialog and must not reach the page below it.
    let on_key = |event: ev::KeyboardEvent| event.stop_propagation();
    let children = StoredValue::new(children);
    view! {
        <dialog
            node_ref=dialog
            class="over-page"
            aria-label=title
            data-testid=test_id
            data-then="[open] h3[tabindex]"
            on:keydown=on_key
            on:close=move |_| on_close()
        >
            <Show when=move || is_open.get()>
                <div class="line">
                    <h2>{title}</h2>
                    <button
                        type="button"
                        class="quiet close"
                        aria-label=t!("Close")
                        data-testid=format!("{test_id}-close")
                        on:click=move |_| on_close()
                    >
                        <IconView icon=Icon::Close />
                    </button>
                </div>
                {children.with_value(|children| children())}
            </Show>
        </dialog>
    }
}
