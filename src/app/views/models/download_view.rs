use leptos::prelude::*;

use crate::app::i18n::{message_text, t};
use crate::app::page::use_page;
use crate::app::state::download::Download;
use crate::app::state::library::LibraryMessage;
use crate::library::errors::NoStorage;
use crate::library::progress::DownloadNotice;

/// The active or unfinished download.
#[component]
pub fn DownloadView() -> impl IntoView {
    let page = use_page();
    let is_there = Memo::new(move |_| page.with(|state| state.library.download.is_some()));
    let of = move |look: fn(&Download) -> String| page.with(|state| state.library.download.as_ref().map(look).unwrap_or_default());
    let is_paused = Memo::new(move |_| page.with(|state| state.library.download.as_ref().is_some_and(Download::is_paused)));
    let value = move || page.with(|state| state.library.download.as_ref().and_then(Download::progress)).map(|part| part.to_string());
    let notice = move || page.with(|state| state.library.download.as_ref()?.notice.as_ref().map(notice_words));
    let buttons = move || match is_paused.get() {
        false => view! {
            <button type="button" data-testid="pause-download" on:click=move |_| page.send(LibraryMessage::Pause)>
                {t!("Pause")}
            </button>
        }
        .into_any(),
        true => view! {
            <button
                type="button"
                class="primary"
                data-testid="resume-download"
                on:click=move |_| page.send(LibraryMessage::Resume)
            >
                {t!("Resume")}
            </button>
            <button
                type="button"
                class="quiet"
                data-testid="dismiss-download"
                title=t!("The downloaded part stays under “Choose a model”")
                on:click=move |_| page.send(LibraryMessage::Dismiss)
            >
                {t!("Not now")}
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
                    {t!(": ")}
                    <span class="detail" data-testid="download-detail">{move || of(Download::detail)}</span>
                </p>
                <progress value=value aria-label=t!("Download")></progress>
                <p class="hint" data-testid="download-notice" hidden=move || notice().is_none()>{notice}</p>
                <div class="choice">{buttons}</div>
            </div>
        </Show>
    }
}

/// Describes an unusual property of a download.
pub fn notice_words(notice: &DownloadNotice) -> String {
    let words = match notice {
        DownloadNotice::InMemory(NoStorage::Unavailable) => {
            t!("The model is kept in memory until you choose another one or close this tab: this browser does not let the page store \
                files (you may be in a private window).")
        }
        DownloadNotice::InMemory(NoStorage::Full) => {
            t!("The model is kept in memory until you choose another one or close this tab: \
               the browser\u{2019}s storage for this site is full.")
        }
        DownloadNotice::NoRanges => t!("This server does not support resuming: an interrupted download starts over."),
        DownloadNotice::Replaced => t!("The file on the server was replaced in the meantime, so the download started over."),
        DownloadNotice::Template(problem) => return message_text(problem),
    };
    words.to_owned()
}
