use leptos::prelude::*;
use web_sys::File;

use super::icon::{Icon, IconView};

/// A button that asks for one file.
#[component]
pub fn FileButton(
    label: &'static str,
    /// What the file dialog offers.
    accept: &'static str,
    test_id: &'static str,
    #[prop(optional, into)] disabled: Signal<bool>,
    on_file: impl Fn(File) + 'static,
) -> impl IntoView {
    let input = NodeRef::<leptos::html::Input>::new();
    let on_change = move |_| {
        let Some(input) = input.get_untracked() else { return };
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            on_file(file);
        }
        // So that choosing the same file once more is a change again.
        input.set_value("");
    };
    view! {
        <label class="button file" class:disabled=disabled>
            <input node_ref=input type="file" class="visually-hidden" accept=accept data-testid=test_id disabled=disabled on:change=on_change />
            <IconView icon=Icon::Open />
            {label}
        </label>
    }
}
