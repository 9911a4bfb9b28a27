use crate::app::state::message::Message;
use leptos::ev;
use leptos::prelude::*;

use super::file_button::FileButton;
use super::icon::{Icon, IconView};
use super::link_panel::LinkPanel;
use super::present_button::PresentButton;
use super::theme_button::ThemeButton;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::views::export::ExportButton;

/// Header of the page: name, purpose, and buttons that open, save, share and export documents.
#[component]
pub fn Header() -> impl IntoView {
    let page = use_page();
    let nothing_to_share = Signal::derive(move || page.with(|state| !state.can_share()));
    let go_home = move |event: ev::MouseEvent| {
        // With a modifier key, the browser opens the link in another tab or window.
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            event.prevent_default();
            page.send(Message::GoHome);
        }
    };
    view! {
        <header class="site">
            <a class="brand" href="./" data-testid="home" on:click=go_home>
                <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
                    <rect x="3" y="3" width="26" height="26" rx="7" />
                    <path d="M19 8C10 8 10 24 19 24M19 16c-4 0-4 8 0 8" />
                    <circle cx="20" cy="8" r="2" />
                    <circle cx="20" cy="16" r="2" />
                    <circle cx="20" cy="24" r="2" />
                </svg>
                <div>
                    <h1>"Glasscage"</h1>
                    <p>{t!("See which sentences a language model\u{2019}s answer depends on.")}</p>
                </div>
            </a>
            <div class="actions">
                <FileButton
                    label=t!("Open\u{2026}")
                    accept=".json,.svg,.png,.html,.gguf,.txt,.md"
                    test_id="open-json"
                    on_files=move |files| page.send_files(files, Message::FilesOpened)
                />
                <button type="button" data-testid="save-json" disabled=nothing_to_share on:click=move |_| page.send(Message::SaveDocument)>
                    <IconView icon=Icon::Save />
                    {t!("Save JSON")}
                </button>
                <button type="button" data-testid="copy-link" disabled=nothing_to_share on:click=move |_| page.send(Message::CopyLink)>
                    <IconView icon=Icon::Link />
                    {t!("Copy link")}
                </button>
                <ExportButton disabled=nothing_to_share />
                <PresentButton />
                <ThemeButton />
            </div>
        </header>
        <LinkPanel />
    }
}
