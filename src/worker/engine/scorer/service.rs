//! Runs in the scorer's worker. Loads the engine's model a second time, and scores passes from the last to the first.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use js_sys::{Array, Float64Array};
use wasm_bindgen::prelude::{JsCast, JsValue};

use super::protocol::{Scored, number_of, request_in};
use crate::cpu::CandleModel;
use crate::model::gguf::Gguf;
use crate::model::source::Joined;
use crate::worker::engine::sources::BrowserFile;
use crate::worker::scope;

/// Serves requests until the worker is terminated. The first message contains the model files, all later ones are requests.
pub fn run() {
    let (sender, messages) = unbounded();
    let latest = Rc::<Cell<Option<u32>>>::default();
    wasm_bindgen_futures::spawn_local(serve(messages, latest.clone()));
    scope::listen_to_values(move |message| {
        if let Some(numbers) = message.dyn_ref::<Float64Array>() {
            // Record it immediately, because a new request must cancel the one that is running.
            latest.set(number_of(&numbers.to_vec()));
        }
        drop(sender.unbounded_send(message));
    });
}

async fn serve(mut messages: UnboundedReceiver<JsValue>, latest: Rc<Cell<Option<u32>>>) {
    let Some(files) = messages.next().await else { return };
    // Without a model, this worker sends nothing, and the engine scores all passes.
    let Some(mut model) = load(files.unchecked_into()).await else { return };
    while let Some(message) = messages.next().await {
        let message = message.unchecked_into::<Float64Array>().to_vec();
        let number = number_of(&message).filter(|&number| latest.get() == Some(number));
        let (Some(request), Some(owned)) = (number, request_in(&message)) else { continue };
        let mut on_scored = async |(pass, readout)| {
            scope::post_numbers(&Scored { request, pass, heap_bytes: scope::heap_bytes(), readout }.to_numbers());
            scope::let_messages_in().await;
            if latest.get() == Some(request) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        // The engine has the same error and reports it.
        drop(model.score_from_last(&owned.borrowed(), &mut on_scored).await);
    }
}

async fn load(files: Array) -> Option<CandleModel> {
    let source = Joined::new(files.iter().map(|file| BrowserFile(file.unchecked_into())).collect());
    let gguf = Gguf::read(&source).await.ok()?;
    let loaded = CandleModel::load(&source, &gguf, &mut async |_| ControlFlow::Continue(())).await;
    Some(loaded.ok()??.0)
}
