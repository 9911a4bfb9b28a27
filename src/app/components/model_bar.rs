use leptos::prelude::*;

use super::download_view::DownloadView;
use super::file_button::FileButton;
use super::icon::{Icon, IconView};
use crate::app::number;
use crate::app::run::Run;
use crate::app::state::{ModelState, use_page};
use crate::worker::client::Ready;

/// Which model answers, what state it is in, and the choice of another.
#[component]
pub fn ModelBar() -> impl IntoView {
    let page = use_page();
    let is_busy = Signal::derive(move || page.run.with(Run::is_active));
    let name = move || page.choice.with(|choice| choice.name().to_owned());
    let state = move || page.model.with(state_words);
    let progress = move || match page.model.get() {
        ModelState::Loading { bytes, total, .. } if total > 0 => {
            Some(view! { <progress max=total.to_string() value=bytes.to_string() aria-label="Model loading"></progress> })
        }
        _ => None,
    };
    let notice = move || {
        let notice = page.model.with(|model| if let ModelState::Ready(ready) = model { ready.notice.clone() } else { None });
        notice.map(|notice| view! { <p class="notice" data-testid="engine-notice">{notice}</p> })
    };
    let arrived = move || {
        page.library.arrived.get().map(|choice| {
            let label = format!("Use {}, which has arrived", choice.name());
            view! { <button type="button" data-testid="use-arrived" disabled=is_busy on:click=move |_| page.use_arrived()>{label}</button> }
        })
    };
    view! {
        <div class="model-bar">
            <p class="model-state" data-testid="model-state" aria-live="polite" class:ready=move || page.model.with(|model| matches!(model, ModelState::Ready(_)))>
                <strong>{name}</strong>
                " "
                <span>{state}</span>
            </p>
            {progress}
            {notice}
            <p class="notice" role="status" data-testid="copied" hidden=move || !page.is_copied()>
                "A copy is kept in this browser, for later visits and without a network. It can be deleted under \u{201c}Choose a model\u{201d}."
            </p>
            <div class="choice">
                {arrived}
                <Show when=move || page.can_keep_copy()>
                    <button type="button" data-testid="keep-copy" on:click=move |_| page.keep_copy()>
                        <IconView icon=Icon::Save />
                        "Keep a copy in this browser"
                    </button>
                </Show>
                <button type="button" data-testid="models-button" disabled=is_busy on:click=move |_| page.open_library()>
                    <IconView icon=Icon::Models />
                    "Choose a model\u{2026}"
                </button>
                <FileButton label="Open a GGUF file\u{2026}" accept=".gguf" test_id="model-file" disabled=is_busy on_files=move |files| page.open_files(files) />
            </div>
            <DownloadView />
        </div>
    }
}

fn state_words(model: &ModelState) -> String {
    match model {
        ModelState::NotLoaded => "not loaded; loads when you press Explain".into(),
        ModelState::Loading { bytes: 0, total: 0, .. } => "loading\u{2026}".into(),
        ModelState::Loading { bytes, total: 0, .. } => format!("loading, {}", number::bytes(*bytes)),
        ModelState::Loading { bytes, total, memory } => {
            let part = number::percent(*bytes as f64 / *total as f64);
            let (bytes, total, memory) = (number::bytes(*bytes), number::bytes(*total), number::bytes(*memory));
            format!("loading, {bytes} of {total} ({part}); needs about {memory} of memory")
        }
        ModelState::Ready(ready) => ready_words(ready),
    }
}

/// "ready: demo, qwen3, 2.9 M parameters, Q8_0, on candle-cpu".
fn ready_words(Ready { model, backend, context_length, has_template, .. }: &Ready) -> String {
    let size = model.parameters as f64 / 1e6;
    let template = if *has_template { "" } else { ", no chat template" };
    let context = number::grouped(*context_length as u64);
    format!("ready: {}, {size:.1} M parameters, {}, on {backend}, {context} tokens of context{template}", model.name, model.quantization)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Model;

    #[test]
    fn every_state_of_the_model_is_said_in_words() {
        assert!(state_words(&ModelState::NotLoaded).starts_with("not loaded"));
        let loading = ModelState::Loading { bytes: 900_000, total: 3_600_000, memory: 13_400_000 };
        assert_eq!(state_words(&loading), "loading, 900 kB of 3.6 MB (25%); needs about 13.4 MB of memory");
        let model = Model { name: "demo".into(), parameters: 3_000_000, quantization: "Q8_0".into(), ..Model::default() };
        let ready = Ready {
            model,
            context_length: 1024,
            bytes_per_token: 0,
            has_template: false,
            backend: "candle-cpu".into(),
            notice: None,
            glasscage: "0.1.0".into(),
        };
        let words = "ready: demo, 3.0 M parameters, Q8_0, on candle-cpu, 1,024 tokens of context, no chat template";
        assert_eq!(state_words(&ModelState::Ready(ready)), words);
    }
}
