use leptos::prelude::*;

use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::message::Message;

/// Asks the user before the page downloads an explanation from the site that a link names.
#[component]
pub fn RemoteQuestion() -> impl IntoView {
    let page = use_page();
    move || {
        let remote = page.with(|state| state.remote().cloned())?;
        let host = remote.host().to_owned();
        let is_fetching = remote.request.is_some();
        let fetch = if is_fetching { t!("Waiting for {host}\u{2026}", host) } else { t!("Download from {host}", host) };
        Some(view! {
            <section
                class="card remote"
                aria-label=t!("An explanation on another site")
                data-testid="remote"
                data-then="[data-testid='fetch-remote']"
            >
                <h2>{t!("This link opens an explanation from {host}", host)}</h2>
                <p class="remote-address" dir="ltr">{remote.address.clone()}</p>
                <p>
                    {t!(
                        "{host} has not been contacted yet. If you continue, {host} sees your IP address, as every site does that you \
                         visit. This page sends nothing else.",
                        host,
                    )}
                </p>
                <p class="side-by-side">
                    <button
                        type="button"
                        class="primary"
                        data-testid="fetch-remote"
                        aria-disabled=is_fetching.to_string()
                        on:click=move |_| page.send(Message::FetchRemote)
                    >
                        {fetch}
                    </button>
                    <button type="button" data-testid="decline-remote" on:click=move |_| page.send(Message::DeclineRemote)>
                        {t!("Cancel")}
                    </button>
                </p>
            </section>
        })
    }
}
