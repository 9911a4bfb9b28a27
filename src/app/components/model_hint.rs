use leptos::prelude::*;

use crate::app::choice::Choice;
use crate::app::state::{ModelState, use_page};

/// Beside a button that asks the model: which one answers, and that it is loaded first where it is not there yet.
#[component]
pub fn ModelHint() -> impl IntoView {
    let page = use_page();
    let words = move || {
        let name = page.choice.with(|choice| match choice {
            Choice::BuiltIn => "the built-in model".to_owned(),
            other => format!("\u{201c}{}\u{201d}", other.name()),
        });
        page.model.with(|model| match model {
            ModelState::NotLoaded => format!("No model is loaded yet: {name} is loaded first."),
            ModelState::Loading { .. } => format!("Waits until {name} is loaded."),
            ModelState::Ready(_) => String::new(),
        })
    };
    view! { <span class="hint" data-testid="model-hint">{words}</span> }
}
