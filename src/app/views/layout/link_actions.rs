use leptos::prelude::*;

use super::lazy::{LazyPart, LazyView};
use super::qr_code;
use crate::app::browser;
use crate::app::i18n::t;

/// Other ways for a link to travel: the device's own share sheet, where there is one, and a QR code.
#[component]
pub fn LinkActions(address: String) -> impl IntoView {
    let code = LazyPart::new(qr_code::fetch);
    let is_open = RwSignal::new(false);
    let shared = address.clone();
    let share = browser::can_share().then(|| {
        let on_click = move |_| browser::share(&document().title(), &shared);
        view! { <button type="button" data-testid="share" on:click=on_click>{t!("Share\u{2026}")}</button> }
    });
    let shown = move |qr_code: fn(String) -> AnyView| qr_code(address.clone());
    let shown = StoredValue::new(shown);
    view! {
        {share}
        <button
            type="button"
            aria-pressed=move || is_open.get().to_string()
            data-testid="show-qr"
            on:click=move |_| is_open.update(|is_open| *is_open = !*is_open)
        >
            {t!("QR code")}
        </button>
        <Show when=move || is_open.get()>
            <div class="code">
                <LazyView part=code view=move |part| shown.with_value(|shown| shown(part)) />
            </div>
        </Show>
    }
}
