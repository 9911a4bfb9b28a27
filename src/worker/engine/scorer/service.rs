//! Runs in a scorer's worker. Loads the engine's model again, and scores the passes that the engine gives it.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use js_sys::{Array, Float64Array};
use wasm_bindgen::prelude::{JsCast, JsValue};

use super::protocol::{FromScorer, ToScorer};
use crate::cpu::{CandleModel, HelperJob};
use crate::model::gguf::Gguf;
use crate::model::source::Joined;
use crate::worker::engine::sources::BrowserFile;
use crate::worker::scope;

/// Serves jobs until the worker is terminated. The first message contains the model files.
pub fn run() {
    let (sender, messages) = unbounded();
    let latest = Rc::<Cell<Option<u32>>>::default();
    wasm_bindgen_futures::spawn_local(serve(messages, latest.clone()));
    scope::listen_to_values(move |message| {
        if let Some(numbers) = message.dyn_ref::<Float64Array>() {
            // Record it immediately, because the end of a job must cancel the unit that is being scored.
            latest.set(ToScorer::from_numbers(&numbers.to_vec()).map(|message| message.job()));
        }
        drop(sender.unbounded_send(message));
    });
}

async fn serve(mut messages: UnboundedReceiver<JsValue>, latest: Rc<Cell<Option<u32>>>) {
    let Some(files) = messages.next().await else { return };
    // Without a model, this worker sends nothing, and the engine scores all passes.
    let Some(mut model) = load(files.unchecked_into()).await else { return };
    scope::post_numbers(&FromScorer::Loaded.to_numbers());
    let mut helper_job = HelperJob::default();
    while let Some(message) = messages.next().await {
        match ToScorer::from_numbers(&message.unchecked_into::<Float64Array>().to_vec()) {
            Some(ToScorer::Begin { requests, .. }) => model.begin_help(&mut helper_job, requests),
            Some(ToScorer::Score { job, unit }) if latest.get() == Some(job) => {
                let mut on_scored = async |(pass, readout)| {
                    let scored = FromScorer::Scored { job, request: unit.request, pass, heap_bytes: scope::heap_bytes(), readout };
                    scope::post_numbers(&scored.to_numbers());
                    scope::let_messages_in().await;
                    if latest.get() == Some(job) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                };
                // The engine has the same error and reports it.
                drop(model.help(&mut helper_job, &unit, &mut on_scored).await);
            }
            _ => {}
        }
    }
}

async fn load(files: Array) -> Option<CandleModel> {
    let source = Joined::new(files.iter().map(|file| BrowserFile(file.unchecked_into())).collect());
    let gguf = Gguf::read(&source).await.ok()?;
    CandleModel::load_again(&source, &gguf).await.ok()
}
