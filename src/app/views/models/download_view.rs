use leptos::prelude::*;

use crate::app::page::use_page;
use crate::app::state::download::Download;
use crate::app::state::library::LibraryMessage;

/// The download that goes on, or was not finished.
#[component]
pub fn DownloadView() -> impl IntoView {
    let page = use_page();
    let is_there = Memo::new(move |_| page.with(|state| state.library.download.is_some()));
    let of = move |look: fn(&Download) -> String| page.with(|state| state.library.download.as_ref().map(look).unwrap_or_default());
    let is_paused = Memo::new(move |_| page.with(|state| state.library.download.as_ref().is_some_and(Download::is_paused)));
    let value = move || page.with(|state| state.library.download.as_ref().and_then(Download::progress)).map(|part| part.to_string());
    let notice = move || page.with(|state| state.library.download.as_ref()?.notice.map(|notice| notice.to_string()));
    let buttons = move || match is_paused.get() {
        false => view! {
            <button type="button" data-testid="pause-download" on:click=move |_| page.send_library(LibraryMessage::Pause)>"Pause"</button>
        }
        .into_any(),
        true => view! {
            <button
                type="button"
                class="primary"
                data-testid="resume-download"
                on:click=move |_| page.send_library(LibraryMessage::Resume)
            >
                "Resume"
            </button>
            <button
                type="button"
                class="quiet"
                data-testid="dismiss-download"
                title="What is stored stays under Models"
                on:click=move |_| page.send_library(LibraryMessage::Dismiss)
            >
                "Not now"
            </button>
        }
        .into_any(),
    };
    view! {
        <Show when=move || is_there.get()>
            <div class="download" data-testid="download">
                <p>
                    <strong>{move || of(|download| download.spec.name.clone())}</strong>
                    " "
                    <span role="status" aria-live="polite">{move || of(|download| download.phase().into())}</span>
                    ": "
                    <span class="detail" data-testid="download-detail">{move || of(Download::detail)}</span>
                </p>
                <progress value=value aria-label="Download"></progress>
                <p class="hint" data-testid="download-notice" hidden=move || notice().is_none()>{notice}</p>
                <div class="choice">{buttons}</div>
            </div>
        </Show>
    }
}
