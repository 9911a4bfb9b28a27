use leptos::prelude::*;

use super::export_view;
use crate::app::i18n::t;
use crate::app::views::layout::dialog_box::DialogBox;
use crate::app::views::layout::icon::{Icon, IconView};
use crate::app::views::layout::lazy::{LazyPart, LazyView};

/// Button that opens the export dialog.
#[component]
pub fn ExportButton(#[prop(into)] disabled: Signal<bool>) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let contents = LazyPart::new(export_view::fetch);
    let show = |contents: fn() -> AnyView| contents();
    view! {
        <button type="button" data-testid="export" disabled=disabled on:click=move |_| is_open.set(true)>
            <IconView icon=Icon::Export />
            {t!("Export\u{2026}")}
        </button>
        <DialogBox title=t!("Export")  test_id="export-dialog" is_open on_close=move || is_open.set(false)>
            <LazyView part=contents view=show />
        </DialogBox>
    }
}
