//! Decodes and handles the events of the engine. The browser fetches this code with the engine: the first screen needs none of it.

use super::state::State;
use super::state::message::Effect;
use super::update::update_by_engine;
use super::views::layout::lazy::split_off;
use crate::worker::envelope::Envelope;

/// Changes the state, and returns the effects to carry out.
pub type EngineUpdate = Box<dyn FnOnce(&mut State) -> Vec<Effect>>;

split_off!(engine_updates, fetch_engine_updates => decode as fn(&str) -> Option<EngineUpdate>);

/// The update that an event makes. `None` if the event comes from another version.
fn decode(json: &str) -> Option<EngineUpdate> {
    let event = Envelope::from_json(json)?;
    Some(Box::new(move |state| update_by_engine(state, event)))
}
