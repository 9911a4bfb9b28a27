use crate::app::browser;
use crate::app::state::message::Message;
use crate::app::state::place::Place;
use leptos::html::Div;
use leptos::prelude::*;

use super::icon::{Icon, IconView};
use super::problem_text::ProblemText;
use crate::app::i18n::t;
use crate::app::page::use_page;

/// The problem at this place, and what to do next. It scrolls into view.
#[component]
pub fn ProblemBox(place: Place) -> impl IntoView {
    let page = use_page();
    let without_template = move |_| {
        page.change_settings(|all| all.use_template = false);
        page.send(Message::Explain);
    };
    let contents = move || {
        let problem = page.with(|state| state.problem.clone().filter(|_| state.problem_place == place));
        problem.map(|problem| {
            let is_of_template = place == Place::Editor && problem.is_of_template;
            let alert = NodeRef::<Div>::new();
            // The element around it may open at the same time, so wait for the next frame.
            alert.on_load(|alert| request_animation_frame(move || browser::reveal(&alert)));
            view! {
                <div node_ref=alert class="problem" data-testid="problem">
                    <ProblemText problem />
                    <Show when=move || is_of_template>
                        <button type="button" data-testid="without-template" on:click=without_template>
                            {t!("Continue without the chat template")}
                        </button>
                    </Show>
                    <button type="button" class="quiet close" aria-label=t!("Dismiss") on:click=move |_| page.send(Message::DismissProblem)>
                        <IconView icon=Icon::Close />
                    </button>
                </div>
            }
        })
    };
    let then = (place == Place::Editor).then_some("[data-testid='explain-button']");
    view! { <div role="alert" data-then=then>{contents}</div> }
}
