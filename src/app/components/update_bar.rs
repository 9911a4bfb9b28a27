use leptos::prelude::*;

use crate::app::run::Run;
use crate::app::state::use_page;

/// The offer of a new version that waits.
#[component]
pub fn UpdateBar() -> impl IntoView {
    let page = use_page();
    let is_active = move || page.run.with(Run::is_active);
    view! {
        <Show when=move || page.update_waits.get()>
            <div class="update" role="status" data-testid="update">
                <p>"A new version of Glasscage is here."</p>
                <button type="button" data-testid="take-update" disabled=is_active on:click=move |_| page.take_update()>"Reload with it"</button>
            </div>
        </Show>
    }
}
