use leptos::prelude::*;

use super::dialog_contents;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::library::LibraryMessage;
use crate::app::views::layout::dialog_box::DialogBox;
use crate::app::views::layout::lazy::{LazyPart, LazyView};

/// Dialog with all available models and the details of the selected one.
#[component]
pub fn ModelsDialog() -> impl IntoView {
    let page = use_page();
    let is_open = Memo::new(move |_| page.with(|state| *state.library.is_open));
    let contents = LazyPart::new(dialog_contents::fetch);
    let show = |contents: fn() -> AnyView| contents();
    view! {
        <DialogBox title=t!("Models") test_id="models" is_open on_close=move || page.send(LibraryMessage::Close)>
            <LazyView part=contents view=show />
        </DialogBox>
    }
}
