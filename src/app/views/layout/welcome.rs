use leptos::prelude::*;

use super::gallery::Gallery;
use crate::app::i18n::t;
use crate::app::page::use_page;

/// Start page: how Glasscage works, and the gallery. Hidden during a run and while another explanation is open.
#[component]
pub fn Welcome() -> impl IntoView {
    let page = use_page();
    let is_home = Memo::new(move |_| page.with(|state| state.explanation.is_home()) && !page.is_busy());
    view! {
        <Show when=move || is_home.get()>
            <section class="welcome" aria-label=t!("How it works")>
                <ol>
                    <li>
                        <h3>{t!("Ask")}</h3>
                        <p>{t!("A small model answers here, in this browser tab. No server sees your text.")}</p>
                    </li>
                    <li>
                        <h3>{t!("Measure")}</h3>
                        <p>{t!("Each sentence is blanked out. Where the answer becomes less likely, the sentence mattered.")}</p>
                    </li>
                    <li>
                        <h3>{t!("See")}</h3>
                        <p>{t!("Click a sentence of the answer and follow its reasons back, step by step, to the prompt.")}</p>
                    </li>
                </ol>
            </section>
            <Gallery />
        </Show>
    }
}
