use crate::app::state::message::Message;
use leptos::ev;
use leptos::prelude::*;

use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;

/// Opens files that are dropped anywhere on the page, and adds dropped texts to the prompt.
#[component]
pub fn DropZone() -> impl IntoView {
    let page = use_page();
    let is_over = RwSignal::new(false);
    let has_files = |event: &ev::DragEvent| event.data_transfer().is_some_and(|data| data.types().includes(&"Files".into(), 0));
    let over = window_event_listener(ev::dragover, move |event| {
        if has_files(&event) {
            event.prevent_default();
            is_over.set(true);
        }
    });
    // The event has no related target if the pointer leaves the window.
    let leave = window_event_listener(ev::dragleave, move |event| is_over.update(|over| *over &= event.related_target().is_some()));
    let dropped = window_event_listener(ev::drop, move |event| {
        is_over.set(false);
        if has_files(&event) {
            event.prevent_default();
            let files = event.data_transfer().and_then(|data| data.files());
            page.send_files(files.map(|files| browser::listed(&files)).unwrap_or_default(), Message::FilesOpened);
        }
    });
    on_cleanup(move || {
        over.remove();
        leave.remove();
        dropped.remove();
    });
    view! {
        <div class="drop-zone" class:over=is_over aria-hidden="true">
            <p>{t!("Drop an explanation (JSON, SVG, PNG, HTML), a model (GGUF), or texts for the prompt (TXT, Markdown)")}</p>
        </div>
    }
}
