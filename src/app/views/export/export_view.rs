//! Contents of the export dialog. A separate chunk of the page's code.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::embed_section::EmbedSection;
use super::picture_section::PictureSection;
use super::table_section::TableSection;
use crate::app::analysis::title;
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::message::Message;
use crate::app::views::layout::help_link::{self, HelpLink};
use crate::app::views::layout::lazy::split_off;
use crate::html;

/// Page of the build output that documents are inserted into.
const HTML_FILE: &str = "explanation.html";

split_off!(export, fetch_export => export as fn() -> AnyView);

fn export() -> AnyView {
    view! {
        <HtmlSection />
        <PictureSection />
        <TableSection />
        <EmbedSection />
        <HelpLink section=help_link::EXPORT />
    }
    .into_any()
}

#[component]
fn HtmlSection() -> impl IntoView {
    let page = use_page();
    let problem = RwSignal::new("");
    let save = move |_| {
        let Some(document) = untrack(|| page.selected_document()) else { return };
        problem.set("");
        spawn_local(async move {
            let template = browser::fetch_text(HTML_FILE).await.unwrap_or_default();
            match html::with_document(&template, &document, &crate::explanation::title(&document)) {
                Ok(html) => {
                    let name = format!("{}.html", title::file_name(&document));
                    page.send(Message::Save { name, media_type: "text/html", bytes: html.into_bytes() });
                }
                Err(_) => problem.set(t!("The page template could not be downloaded. Check the connection, then try again.")),
            }
        });
    };
    view! {
        <section>
            <h3>{t!("Standalone web page (HTML)")}</h3>
            <p class="hint">
                {t!("One file that opens in any browser, offline and without this site. You can click its sentences as you do here.")}
            </p>
            <button type="button" data-testid="export-html" on:click=save>{t!("Save HTML")}</button>
            <p role="status">{problem}</p>
        </section>
    }
}
