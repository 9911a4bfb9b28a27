use crate::app::page::use_page;
use crate::app::state::State;
use crate::app::state::engine::ModelState;
use crate::app::state::library::LibraryMessage;
use crate::app::state::message::Message;
use crate::request::{LoadProgress, LoadedModel};
use leptos::prelude::*;

use crate::app::analysis::number;
use crate::app::i18n::{sentence_text, t};
use crate::app::views::layout::file_button::FileButton;
use crate::app::views::layout::icon::{Icon, IconView};
use crate::app::views::models::download_view::DownloadView;

/// Shows which model answers and its state, and lets the user choose another one.
#[component]
pub fn ModelBar() -> impl IntoView {
    let page = use_page();
    let is_busy = Signal::derive(move || page.is_busy());
    let name = move || page.with(|state| state.engine.choice.name().to_owned());
    let state = move || page.with(|state| state_words(&state.engine.model));
    // A screen reader should not announce every percent.
    let phase = move || match page.with(|state| state.engine.load_progress().is_some()) {
        true => t!("loading\u{2026}").into(),
        false => state(),
    };
    let progress = move || {
        let progress = page.with(|state| state.engine.load_progress()).filter(|progress| progress.total_bytes > 0);
        progress.map(|LoadProgress { read_bytes, total_bytes, .. }| {
            view! { <progress max=total_bytes.to_string() value=read_bytes.to_string() aria-label=t!("Model loading")></progress> }
        })
    };
    let notice = move || {
        let notices = page.with(|state| state.engine.loaded().map(|loaded| loaded.notices.clone())).unwrap_or_default();
        (!notices.is_empty()).then(|| {
            let lines = notices.iter().map(|notice| view! { <span>{sentence_text(notice)}" "</span> }).collect_view();
            view! { <p class="notice" data-testid="engine-notice">{lines}</p> }
        })
    };
    let last_files = move || {
        page.with(|state| state.engine.last_files.clone()).map(|name| {
            let words = t!(
                "\u{201c}{name}\u{201d} answered on your last visit. A browser reads a file only when you open it: open it again, and then \
                 keep a copy in this browser if you want it on every visit.",
                name
            );
            view! { <p class="notice" data-testid="last-files">{words}</p> }
        })
    };
    let arrived = move || {
        page.with(|state| state.library.arrived.clone()).map(|choice| {
            let label = t!("Use {name} (download complete)", name = choice.name());
            view! {
                <button
                    type="button"
                    data-testid="use-arrived"
                    disabled=is_busy
                    on:click=move |_| page.send(LibraryMessage::UseArrived)
                >
                    {label}
                </button>
            }
        })
    };
    view! {
        <div class="model-bar">
            <p
                class="model-state"
                data-testid="model-state"
                class:ready=move || page.with(|state| state.engine.loaded().is_some())
            >
                <strong>{name}</strong>
                " "
                <span>{state}</span>
                <span data-testid="works-offline" hidden=move || !page.with(State::works_offline)>
                    {t!("; ")}
                    {t!("works offline")}
                </span>
            </p>
            <span class="visually-hidden" role="status">{phase}</span>
            {progress}
            {notice}
            {last_files}
            <p class="notice" role="status" data-testid="copied" hidden=move || !page.with(State::is_copied)>
                {t!(
                    "A copy is kept in this browser, for later visits and offline use. You can delete it under \u{201c}Choose a \
                     model\u{201d}."
                )}
            </p>
            <div class="choice">
                {arrived}
                <Show when=move || page.with(|state| state.engine.can_fall_back())>
                    <button
                        type="button"
                        data-testid="fall-back"
                        disabled=is_busy
                        on:click=move |_| page.send(LibraryMessage::UseBuiltIn)
                    >
                        {t!("Use the built-in model")}
                    </button>
                </Show>
                <Show when=move || page.with(State::can_keep_copy)>
                    <button type="button" data-testid="keep-copy" on:click=move |_| page.send(LibraryMessage::KeepCopy)>
                        <IconView icon=Icon::Save />
                        {t!("Keep a copy in this browser")}
                    </button>
                </Show>
                <button
                    type="button"
                    data-testid="models-button"
                    disabled=is_busy
                    on:click=move |_| page.send(LibraryMessage::Open)
                >
                    <IconView icon=Icon::Models />
                    {t!("Choose a model\u{2026}")}
                </button>
                <FileButton
                    label=t!("Open a GGUF file\u{2026}")
                    accept=".gguf"
                    test_id="model-file"
                    disabled=is_busy
                    on_files=move |files| page.send_files(files, Message::FilesOpened)
                />
            </div>
            <DownloadView />
        </div>
    }
}

fn state_words(model: &ModelState) -> String {
    match model {
        ModelState::NotLoaded => t!("not loaded; loads with your first question").into(),
        ModelState::Loading(progress) => loading_words(*progress),
        ModelState::Ready(loaded) => ready_words(loaded),
        ModelState::Failed => t!("failed; reloads with your next question").into(),
    }
}

fn loading_words(LoadProgress { read_bytes, total_bytes, memory_bytes }: LoadProgress) -> String {
    match (read_bytes, total_bytes) {
        (0, 0) => t!("loading\u{2026}").into(),
        (_, 0) => t!("loading, {read}", read = number::bytes(read_bytes)),
        _ => {
            let part = number::percent(read_bytes as f64 / total_bytes as f64);
            let (read, total, memory) = (number::bytes(read_bytes), number::bytes(total_bytes), number::bytes(memory_bytes));
            t!("loading, {read} of {total} ({part}); needs about {memory} of memory", read, total, part, memory)
        }
    }
}

/// "ready: demo, 2.9M parameters, `Q8_0`, on webgpu (nvidia ampere), 1,024 tokens of context".
fn ready_words(LoadedModel { model, backend, context_length, has_template, .. }: &LoadedModel) -> String {
    let (name, quantization) = (&model.name, &model.quantization);
    let size = number::with_point(&format!("{:.1}", model.parameters as f64 / 1e6));
    let context = number::grouped(*context_length as u64);
    match has_template {
        true => t!(
            "ready: {name}, {size}M parameters, {quantization}, on {backend}, {context} tokens of context",
            name,
            size,
            quantization,
            backend,
            context
        ),
        false => t!(
            "ready: {name}, {size}M parameters, {quantization}, on {backend}, {context} tokens of context, no chat template",
            name,
            size,
            quantization,
            backend,
            context
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Model;

    #[test]
    fn every_state_of_the_model_is_said_in_words() {
        assert!(state_words(&ModelState::NotLoaded).starts_with("not loaded"));
        assert!(state_words(&ModelState::Failed).starts_with("failed"));
        let loading = ModelState::Loading(LoadProgress { read_bytes: 900_000, total_bytes: 3_600_000, memory_bytes: 13_400_000 });
        assert_eq!(state_words(&loading), "loading, 900 kB of 3.6 MB (25%); needs about 13.4 MB of memory");
        let model = Model { name: "demo".into(), parameters: 3_000_000, quantization: "Q8_0".into(), ..Model::default() };
        let loaded = LoadedModel {
            model,
            context_length: 1024,
            bytes_per_token: 0,
            has_template: false,
            thinking: crate::request::ThinkingSupport::Never,
            backend: "webgpu (nvidia ampere)".into(),
            kernel_shapes: None,
            notices: Vec::new(),
            glasscage: "0.1.0".into(),
        };
        let words = "ready: demo, 3.0M parameters, Q8_0, on webgpu (nvidia ampere), 1,024 tokens of context, no chat template";
        assert_eq!(state_words(&ModelState::Ready(Box::new(loaded))), words);
    }
}
