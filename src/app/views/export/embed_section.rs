use leptos::prelude::*;

use crate::app::analysis::embed::{embed_address, frame};
use crate::app::analysis::shared_link::set_shown;
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::views::layout::copy_text::CopyText;
use crate::app::views::layout::parts_choice::{OF_EXPLANATION, PartsChoice};
use crate::explanation::to_fragment;

/// Height in CSS pixels if the height of the explanation is unknown.
const DEFAULT_HEIGHT: f64 = 640.0;
const EXPLANATION: &str = "section.explanation";

/// HTML code that shows the explanation in a frame of another page.
#[component]
pub fn EmbedSection() -> impl IntoView {
    let page = use_page();
    let hidden = RwSignal::new(Vec::new());
    let height = browser::height_of(EXPLANATION).unwrap_or(DEFAULT_HEIGHT) as u32;
    let line = Memo::new(move |_| {
        let Some(document) = page.selected_document() else { return String::new() };
        let address = embed_address(&browser::address(), &hidden.get(), &to_fragment(&document));
        frame(&address, &crate::explanation::title(&document), height)
    });
    let is_shown = move |name: &str| hidden.with(|hidden| !hidden.contains(&name));
    let change = move |name: &'static str, is_shown: bool| hidden.update(|hidden| set_shown(hidden, name, is_shown));
    view! {
        <section>
            <h3>{t!("In another page (iframe)")}</h3>
            <p class="hint">
                {t!(
                    "HTML code for articles, slides, and learning platforms. The frame contains the whole explanation, like a link. It \
                     uses this site’s viewer and needs no model. Nothing is uploaded."
                )}
            </p>
            <PartsChoice parts=OF_EXPLANATION.to_vec() prefix="embed" is_shown on_change=change />
            <CopyText text=line.into() button=(t!("Copy HTML"), "copy-embed") field=(t!("HTML code"), "embed-line") shows_field=true />
        </section>
    }
}
