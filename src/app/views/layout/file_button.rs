use leptos::prelude::*;
use web_sys::File;

use super::icon::{Icon, IconView};
use crate::app::browser;

/// A button that asks for files: one, or all parts of a split model.
#[component]
pub fn FileButton(
    label: &'static str,
    /// File types that the file dialog offers.
    accept: &'static str,
    test_id: &'static str,
    #[prop(optional, into)] disabled: Signal<bool>,
    on_files: impl Fn(Vec<File>) + 'static,
) -> impl IntoView {
    let input = NodeRef::<leptos::html::Input>::new();
    let on_change = move |_| {
        let Some(input) = input.get_untracked() else { return };
        let files = input.files().map(|files| browser::listed(&files)).unwrap_or_default();
        if !files.is_empty() {
            on_files(files);
        }
        // Clear the value, so that choosing the same file again is a change.
        input.set_value("");
    };
    view! {
        <label class="button file" class:disabled=disabled>
            <input
                node_ref=input
                type="file"
                multiple
                class="visually-hidden"
                accept=accept
                aria-label=label
                data-testid=test_id
                disabled=disabled
                on:change=on_change
            />
            <IconView icon=Icon::Open />
            {label}
        </label>
    }
}
