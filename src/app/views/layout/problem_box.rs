use crate::app::state::message::Message;
use leptos::prelude::*;

use super::icon::{Icon, IconView};
use super::problem_text::ProblemText;
use crate::app::page::use_page;

/// What went wrong, and what to do next.
#[component]
pub fn ProblemBox() -> impl IntoView {
    let page = use_page();
    let contents = move || {
        page.with(|state| state.problem.clone()).map(|problem| {
            view! {
                <div class="problem" data-testid="problem">
                    <ProblemText problem />
                    <button type="button" class="quiet close" aria-label="Dismiss" on:click=move |_| page.send(Message::DismissProblem)>
                        <IconView icon=Icon::Close />
                    </button>
                </div>
            }
        })
    };
    view! { <div role="alert">{contents}</div> }
}
