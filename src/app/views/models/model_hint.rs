use crate::app::state::engine::ModelState;
use crate::app::state::model_choice::ModelChoice;
use leptos::prelude::*;

use crate::app::i18n::t;
use crate::app::page::use_page;

/// Hint next to a button that runs the model: which model it needs, or which is loaded first. Empty if that model is loaded.
#[component]
pub fn ModelHint() -> impl IntoView {
    let page = use_page();
    let words = move || {
        page.with(|state| match (&*state.engine.model, &*state.engine.choice) {
            _ if state.lacks_model_of_document() => t!("This needs the model that made the explanation.").into(),
            (ModelState::NotLoaded | ModelState::Failed, ModelChoice::BuiltIn) => {
                t!("No model is loaded yet: the built-in model is loaded first.").into()
            }
            (ModelState::NotLoaded | ModelState::Failed, other) => {
                t!("No model is loaded yet: \u{201c}{name}\u{201d} is loaded first.", name = other.name())
            }
            (ModelState::Loading(_), ModelChoice::BuiltIn) => t!("Waits until the built-in model is loaded.").into(),
            (ModelState::Loading(_), other) => t!("Waits until \u{201c}{name}\u{201d} is loaded.", name = other.name()),
            (ModelState::Ready(_), _) => String::new(),
        })
    };
    view! { <span class="hint" data-testid="model-hint">{words}</span> }
}
