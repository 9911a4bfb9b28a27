use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::HtmlTextAreaElement;

use crate::app::analysis::embed::{embed_address, frame};
use crate::app::browser;
use crate::app::i18n::{t, text, translatable};
use crate::app::page::use_page;
use crate::explanation::to_fragment;

/// What of the explanation a frame may leave out: the name in its address, and on screen.
const PARTS: [(&str, &str); 5] = [
    ("graph", translatable!("Graph")),
    ("shares", translatable!("Percentages")),
    ("details", translatable!("Details")),
    ("tabs", translatable!("Tabs")),
    ("derivation", translatable!("How scores become influence")),
];
/// Where the height is not known.
const USUAL_HEIGHT: f64 = 640.0;
const EXPLANATION: &str = "section.explanation";

/// The explanation in a frame of another page.
#[component]
pub fn EmbedSection() -> impl IntoView {
    let page = use_page();
    let hidden = RwSignal::new(Vec::new());
    let is_copied = RwSignal::new(false);
    let height = browser::height_of(EXPLANATION).unwrap_or(USUAL_HEIGHT) as u32;
    let line = Memo::new(move |_| {
        let document = page.selected_document()?;
        let address = embed_address(&browser::address(), &hidden.get(), &to_fragment(&document));
        Some(frame(&address, &crate::explanation::title(&document), height))
    });
    let part = move |(name, label): (&'static str, &'static str)| {
        let change = move |event| {
            let is_shown = event_target_checked(&event);
            is_copied.set(false);
            hidden.update(|hidden| {
                hidden.retain(|part| *part != name);
                if !is_shown {
                    hidden.push(name);
                }
            });
        };
        view! {
            <label><input type="checkbox" checked data-testid=format!("embed-{name}") on:change=change />{text(label)}</label>
        }
    };
    let copy = move |_| {
        let line = line.get_untracked().unwrap_or_default();
        spawn_local(async move { is_copied.set(browser::copy(&line).await) });
    };
    let select_all = |event: ev::FocusEvent| event_target::<HtmlTextAreaElement>(&event).select();
    view! {
        <section>
            <h3>{t!("In another page (iframe)")}</h3>
            <p class="hint">
                {t!(
                    "A line of HTML for articles, slides and learning platforms. The frame holds the explanation as a link does and shows \
                     it with the viewer of this site, without a model; nothing is uploaded."
                )}
            </p>
            <div class="side-by-side">{PARTS.map(part).collect_view()}</div>
            <textarea
                readonly
                rows="4"
                aria-label=t!("The line of HTML")
                data-testid="embed-line"
                prop:value=move || line.get().unwrap_or_default()
                on:focus=select_all
            ></textarea>
            <p class="side-by-side">
                <button type="button" data-testid="copy-embed" on:click=copy>{t!("Copy the line")}</button>
                <span role="status">{move || if is_copied.get() { t!("Copied") } else { "" }}</span>
            </p>
        </section>
    }
}
