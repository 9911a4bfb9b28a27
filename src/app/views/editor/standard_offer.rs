use leptos::prelude::*;

use crate::app::analysis::number;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::State;
use crate::app::state::library::LibraryMessage;
use crate::app::state::standard::StandardOffer;
use crate::library::standard::{NAME, Obstacle};

/// Offers Glasscage Standard for the visitor's own prompts. The download starts only when the visitor presses the button.
#[component]
pub fn StandardOfferView() -> impl IntoView {
    let page = use_page();
    let offer = Memo::new(move |_| page.with(State::standard_offer));
    let is_asking = move || page.with(|state| state.library.standard.request.is_some());
    let asking = || t!("Asking the server about {name}\u{2026}", name = NAME);
    let size = move || page.with(|state| number::bytes(state.library.standard.spec.bytes().unwrap_or(0)));
    let show = move |offer: StandardOffer| {
        let words = page.with(|state| words(&offer, state.engine.choice.name(), &size()));
        // The engine can compute during a download, but the model cannot change during a run.
        let is_change = matches!(offer, StandardOffer::Use(_));
        let button = match offer {
            StandardOffer::Arriving => None,
            StandardOffer::Download(_) => Some((t!("Download {size}", size = size()), "get-standard", LibraryMessage::GetStandard)),
            StandardOffer::Use(id) => {
                Some((t!("Use {name}", name = NAME), "use-standard", LibraryMessage::UseStored { id, name: NAME.into() }))
            }
        };
        let button = button.map(|(label, test_id, message)| {
            view! {
                <button
                    type="button"
                    data-testid=test_id
                    disabled=move || is_asking() || is_change && page.is_busy()
                    on:click=move |_| page.send(message.clone())
                >
                    {move || if is_asking() { asking() } else { label.clone() }}
                </button>
            }
        });
        view! {
            <div class="offer" data-testid="standard-offer">
                <p>{about()} " " <span class="hint">{words}</span></p>
                {button}
            </div>
        }
    };
    move || offer.get().map(show)
}

/// Describes how often the model answers correctly.
pub fn about() -> &'static str {
    t!("Glasscage Standard answers seven of ten plain problems in your own words correctly, the small built-in model about half.")
}

/// Describes the size of the download, or why the device cannot use the model. `name` is the model that answers now.
fn words(offer: &StandardOffer, name: &str, size: &str) -> String {
    match offer {
        StandardOffer::Download(None) => t!(
            "It is {size}: about 10 seconds at 50 Mbit/s. It stays in this browser and works without a network. An answer takes longer, \
             because it has five times as many weights. You need not wait: until it is here, \u{201c}{name}\u{201d} answers.",
            size,
            name
        ),
        StandardOffer::Download(Some(Obstacle::Memory)) => {
            t!("This device has too little memory for it, so \u{201c}{name}\u{201d} answers.", name)
        }
        StandardOffer::Download(Some(Obstacle::Storage)) => t!(
            "This browser has no room for it, or does not let the page store files (you may be in a private window), so \
             \u{201c}{name}\u{201d} answers.",
            name
        ),
        StandardOffer::Arriving => t!("Until it is here, \u{201c}{name}\u{201d} answers.", name),
        StandardOffer::Use(_) => t!("It is stored in this browser.").into(),
    }
}
