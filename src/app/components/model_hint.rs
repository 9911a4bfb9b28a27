use leptos::prelude::*;

use crate::app::state::{ModelState, use_page};

/// Beside a button that asks the model: which one answers, and that it is loaded first where it is not there yet.
#[component]
pub fn ModelHint() -> impl IntoView {
    let page = use_page();
    let words = move || {
        let name = page.model_file_name.get().map_or_else(|| "the built-in model".into(), |name| format!("\u{201c}{name}\u{201d}"));
        page.model.with(|model| match model {
            ModelState::NotLoaded => format!("No model is loaded yet: {name} is loaded first."),
            ModelState::Loading { .. } => format!("Waits until {name} is loaded."),
            ModelState::Ready(_) => String::new(),
        })
    };
    view! { <span class="hint" data-testid="model-hint">{words}</span> }
}
