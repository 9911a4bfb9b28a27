//! Tests of loading a model: which requests are sent, and which data is stored or dropped.

use super::tests::{Page, asked, file, loaded, requests};
use crate::app::state::message::{Effect, Message};
use crate::app::state::storage_keys;
use crate::request::LoadedModel;
use crate::worker::engine::protocol::{EngineEvent, EngineRequest};

#[test]
fn another_model_drops_the_load_before() {
    let mut page = Page::new();
    let first = page.loads();
    let effects = page.send(Message::FilesOpened(vec![file("mine.gguf")]));
    assert!(effects.contains(&Effect::EndEngine));
    page.engine(first, EngineEvent::Ready(loaded()));
    assert!(page.look(|state| state.engine.loaded().is_none()));
    page.engine(asked(&effects), EngineEvent::Ready(loaded()));
    assert_eq!(page.look(|state| (state.engine.loaded().is_some(), state.engine.choice.name().to_owned())), (true, "mine.gguf".into()));
}

#[test]
fn measured_shapes_are_stored_for_next_load() {
    let mut page = Page::new();
    let load = page.loads();
    let measured = LoadedModel { kernel_shapes: Some("a GPU, 1.0.0, tiles of 8x4".into()), ..loaded() };
    let remembers = |effects: &[Effect]| {
        effects.iter().any(|effect| matches!(effect, Effect::RememberForVisits { key: storage_keys::KERNEL_SHAPES, text: Some(_) }))
    };
    assert!(remembers(&page.engine(load, EngineEvent::Ready(measured.clone()))));
    let effects = page.send(Message::FilesOpened(vec![file("another.gguf")]));
    let EngineRequest::Load { options, .. } = &requests(&effects)[0].body else { panic!("{effects:?}") };
    assert_eq!(options.kernel_shapes, measured.kernel_shapes);
    assert!(!remembers(&page.engine(asked(&effects), EngineEvent::Ready(measured))), "it is there already");
}

#[test]
fn engine_version_mismatch_asks_for_reload() {
    let mut page = Page::new();
    let load = page.loads();
    page.engine(load, EngineEvent::Ready(LoadedModel { glasscage: "other".into(), ..loaded() }));
    assert!(page.problem().starts_with("The page was updated while it was open"));
}
