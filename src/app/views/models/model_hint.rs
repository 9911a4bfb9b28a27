use crate::app::state::engine::ModelState;
use crate::app::state::model_choice::ModelChoice;
use leptos::prelude::*;

use crate::app::page::use_page;

/// Beside a button that asks the model: which one answers, and that it is loaded first where it is not there yet.
#[component]
pub fn ModelHint() -> impl IntoView {
    let page = use_page();
    let words = move || {
        page.with(|state| {
            let name = match &*state.engine.choice {
                ModelChoice::BuiltIn => "the built-in model".to_owned(),
                other => format!("\u{201c}{}\u{201d}", other.name()),
            };
            match *state.engine.model {
                ModelState::NotLoaded => format!("No model is loaded yet: {name} is loaded first."),
                ModelState::Loading(_) => format!("Waits until {name} is loaded."),
                ModelState::Ready(_) => String::new(),
            }
        })
    };
    view! { <span class="hint" data-testid="model-hint">{words}</span> }
}
