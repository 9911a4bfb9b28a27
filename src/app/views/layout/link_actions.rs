use leptos::prelude::*;

use super::lazy::{LazyPart, LazyView};
use super::link_parts::LinkParts;
use super::qr_code;
use crate::app::browser;
use crate::app::i18n::t;

/// The section that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Code,
    Parts,
}

/// More actions for a link: the share sheet of the device if there is one, a QR code, and the page parts that the link shows.
#[component]
pub fn LinkActions(address: Signal<String>) -> impl IntoView {
    let code = LazyPart::new(qr_code::fetch);
    let open = RwSignal::new(None);
    let share = browser::can_share().then(|| {
        let on_click = move |_| browser::share(&document().title(), &address.get_untracked());
        view! { <button type="button" data-testid="share" on:click=on_click>{t!("Share\u{2026}")}</button> }
    });
    let button = move |what: Open, name: &'static str, test_id: &'static str| {
        let is_open = move || open.get() == Some(what);
        let toggle = move |_| open.update(|open| *open = Some(what).filter(|_| *open != Some(what)));
        view! { <button type="button" aria-expanded=move || is_open().to_string() data-testid=test_id on:click=toggle>{name}</button> }
    };
    view! {
        {share}
        {button(Open::Code, t!("QR code"), "show-qr")}
        {button(Open::Parts, t!("What the link shows"), "show-parts")}
        <Show when=move || open.get() == Some(Open::Code)>
            <div class="code">
                <LazyView part=code view=move |qr_code| qr_code(address.get()) />
            </div>
        </Show>
        <Show when=move || open.get() == Some(Open::Parts)>
            <div class="code">
                <LinkParts />
            </div>
        </Show>
    }
}
