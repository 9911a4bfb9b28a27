//! Decodes and handles the events of the workers. The browser fetches this code with the first worker: the first screen needs none of it.

use super::state::State;
use super::state::message::Effect;
use super::update::{update_by_engine, update_by_library};
use super::views::layout::lazy::split_off;
use crate::worker::client::{Decode, FetchedDecoder};
use crate::worker::envelope::Envelope;

/// Changes the state, and returns the effects to carry out.
pub type Update = Box<dyn FnOnce(&mut State) -> Vec<Effect>>;

/// Functions that return the update that an event makes, or `None` if the event comes from another version.
#[derive(Clone, Copy)]
pub struct Decoders {
    engine: Decode<Update>,
    library: Decode<Update>,
}

split_off!(worker_updates, fetch_worker_updates => decoders as fn() -> Decoders);

fn decoders() -> Decoders {
    Decoders {
        engine: |json| {
            let event = Envelope::from_json(json)?;
            Some(Box::new(move |state| update_by_engine(state, event)))
        },
        library: |json| {
            let event = Envelope::from_json(json)?;
            Some(Box::new(move |state| update_by_library(state, event)))
        },
    }
}

pub fn engine_decoder() -> FetchedDecoder<Update> {
    Box::pin(async { Some(fetch().await.ok()?().engine) })
}

pub fn library_decoder() -> FetchedDecoder<Update> {
    Box::pin(async { Some(fetch().await.ok()?().library) })
}
