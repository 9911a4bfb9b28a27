use crate::app::state::message::Message;
use crate::app::state::run_status::RunStatus;
use crate::request::WorkStats;
use leptos::prelude::*;

use super::answer_stream::AnswerStream;
use super::icon::{Icon, IconView};
use crate::app::analysis::number;
use crate::app::i18n::t;
use crate::app::page::use_page;

/// Status and progress of a run, and the Stop button. Hidden until the first run, after a problem, and when another explanation is opened.
#[component]
pub fn StatusBar() -> impl IntoView {
    let page = use_page();
    let is_idle = move || page.with(|state| *state.engine.run == RunStatus::Idle);
    let progress = move || page.with(|state| state.engine.run.progress()).map_or(String::new(), |part| format!("--done:{part:.3}"));
    let is_unknown = move || page.is_busy() && page.with(|state| state.engine.run.progress()).is_none();
    let work = move || {
        page.with(|state| *state.engine.work).filter(|_| !page.is_busy()).map(|work| {
        view! {
            <span class="detail" data-testid="work" data-gpu-bytes=work.gpu_bytes.to_string() data-heap-bytes=work.heap_bytes.to_string()>
                {work_words(work)}
            </span>
        }
    })
    };
    view! {
        <div class="status" class:idle=is_idle class:active=move || page.is_busy()>
            <div class="line">
                <p data-testid="status">
                    <span role="status" aria-live="polite">{move || page.with(|state| state.engine.run.phase())}</span>
                    <span class="detail">{move || page.with(|state| state.engine.run.detail())}</span>
                    {work}
                </p>
                <button type="button" data-testid="stop-button" disabled=move || !page.is_busy() on:click=move |_| page.send(Message::Stop)>
                    <IconView icon=Icon::Stop />
                    {t!("Stop")}
                </button>
            </div>
            <div
                class="track"
                class:unknown=is_unknown
                role="progressbar"
                aria-label=t!("Progress")
                aria-valuemin="0"
                aria-valuemax="100"
                aria-valuenow=move || page.with(|state| state.engine.run.progress()).map(|part| (part * 100.0).round().to_string())
            >
                <span style=progress></span>
            </div>
        </div>
        <AnswerStream />
    }
}

/// "611 tokens processed, 24.1 MB of memory".
fn work_words(WorkStats { forward_tokens, gpu_bytes, heap_bytes, workers, .. }: WorkStats) -> String {
    let (tokens, memory) = (number::grouped(forward_tokens as u64), number::bytes(heap_bytes));
    match (gpu_bytes, workers) {
        (0, 0 | 1) => t!("{tokens} tokens processed, {memory} of memory", tokens, memory),
        (0, _) => t!("{tokens} tokens processed by {workers} workers, {memory} of memory", tokens, workers, memory),
        _ => t!("{tokens} tokens processed, up to {gpu} of GPU memory, {memory} of memory", tokens, gpu = number::bytes(gpu_bytes), memory),
    }
}
