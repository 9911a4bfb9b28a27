//! Tests of requests: each is sent once, late answers change nothing, and no request waits forever.

use serde_json::json;

use super::tests::*;
use super::*;
use crate::app::analysis::example::document;
use crate::app::gallery::GalleryEntry;
use crate::app::state::engine::MaskedLmState;
use crate::app::state::library::LibraryMessage;
use crate::app::state::message::{EditorMessage, ExplanationMessage, Fetch};
use crate::app::state::run_status::RunStatus;
use crate::explanation::Document;
use crate::library::standard;
use crate::problem::Problem;
use crate::request::{ExplainProgress, LoadProgress};
use crate::worker::engine::protocol::{EngineEvent, EngineRequest};
use crate::worker::envelope::Envelope;
use crate::worker::role::Lost;
use glasscage_message::message;

#[test]
fn shared_file_is_fetched_once() {
    let mut page = Page::new();
    assert_eq!(page.send(Message::Needed(Fetch::Examples)), [Effect::Fetch(Fetch::Examples)]);
    assert!(page.send(Message::Needed(Fetch::Examples)).is_empty());
}

#[test]
fn measuring_device_leaves_explanation_and_history_alone() {
    let mut page = Page::new();
    page.opens(document().to_json());
    let before = page.shown();
    let load = asked(&page.send(Message::MeasureDevice));
    assert_eq!(page.run(), RunStatus::Preparing);
    let effects = page.engine(load, EngineEvent::Ready(loaded()));
    let [Envelope { id, body: EngineRequest::MeasureDevice }] = requests(&effects)[..] else { panic!("one request: {effects:?}") };
    assert!(page.send(Message::Explain).is_empty(), "one run at a time");
    let effects = page.engine(*id, EngineEvent::DeviceMeasured("{}".into()));
    assert!(effects.is_empty() && !page.run().is_active(), "{effects:?}");
    assert_eq!(page.look(|state| state.engine.device.clone()).as_deref(), Some("{}"));
    assert_eq!((page.shown(), page.problem()), (before, String::new()));
}

#[test]
fn complete_explanation_is_shared_while_pairs_refine_it() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.engine(run, answered(unmeasured()));
    // No sentence depends on the last one.
    let n_sources = document().table.n_sources() - 1;
    for source in 0..n_sources {
        assert!(!page.look(State::can_share) && !page.run().phase().contains("refine"), "{source} sources are measured");
        let scores = vec![1.0; document().table.rows_after(source).len()];
        let column = ExplainProgress::Column { source, scores, done: source + 1, planned: 15 };
        page.engine(run, EngineEvent::Progress(column));
    }
    assert!(page.look(State::can_share) && page.run().phase().contains("refine"));
    let effects = page.send(Message::SaveDocument);
    let [Effect::SaveFile { bytes, .. }] = &effects[..] else { panic!("a file is saved: {effects:?}") };
    let saved = Document::from_json(&String::from_utf8_lossy(bytes)).expect("a document");
    assert!(saved.is_complete() && saved.method.passes == [n_sources, 15]);
    page.send(Message::CopyLink);
    page.send(Message::LinkEncoded("g3.x".into()));
    assert!(page.look(|state| state.explanation.link.is_some()));
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert!(page.look(|state| state.explanation.link.is_none()), "the link was of the earlier explanation");
    page.send(Message::CopyLink);
    page.send(ExplanationMessage::Escape);
    page.send(Message::LinkEncoded("g3.x".into()));
    assert!(page.look(|state| state.explanation.link.is_none()), "closed before it was encoded");
}

#[test]
fn failed_fetch_is_reported_and_repeated() {
    for (fetch, answers) in [(Fetch::Examples, [None, Some("{}")]), (Fetch::Gallery, [None, Some("<!doctype html>")])] {
        let mut page = Page::new();
        for answer in answers {
            assert_eq!(page.send(Message::Needed(fetch.clone())), [Effect::Fetch(fetch.clone())]);
            page.send(Message::Fetched(fetch.clone(), answer.map(str::to_owned)));
            assert!(page.problem().contains("could not be loaded"), "{fetch:?}");
            page.send(Message::DismissProblem);
        }
    }
    let mut page = Page::new();
    page.send(LibraryMessage::Open);
    page.send(Message::Fetched(Fetch::Registry, None));
    assert!(page.look(|state| state.library.problem.is_some()));
}

#[test]
fn missing_language_is_said_unless_worse_happened() {
    let mut page = Page::new();
    page.send(Message::LanguageMissing);
    assert!(page.problem().contains("in your language") && page.problem().contains("reload"));
    page.send(Message::SaveRefused);
    page.send(Message::LanguageMissing);
    assert!(page.problem().contains("did not save"));
}

#[test]
fn the_file_opened_last_stays_on_screen() {
    let mut page = Page::ready();
    let [first, second] = ["a.json", "a.json"].map(|name| read(&page.send(Message::FilesOpened(vec![file(name)]))));
    let mut other = document();
    other.method.id = "clp".into();
    page.reads(second, other.to_json());
    assert_eq!(page.reads(first, document().to_json()), [], "the visitor has gone on");
    assert_eq!(page.shown().as_deref(), Some("clp"));
    let late = read(&page.send(Message::FilesOpened(vec![file("a.json")])));
    page.send(Message::GoHome);
    assert_eq!((page.reads(late, document().to_json()), page.shown()), (vec![], None));
}

#[test]
fn several_files_of_which_one_can_be_opened_are_refused() {
    for names in [["a.json", "b.json"], ["a.json", "mine.gguf"], ["mine.gguf", "other.gguf"]] {
        let mut page = Page::ready();
        assert_eq!(page.send(Message::FilesOpened(names.map(file).into())), [], "{names:?}");
        assert!(page.problem().starts_with("2 files were opened at once."), "{names:?}: {}", page.problem());
    }
    let mut page = Page::ready();
    let effects = page.send(Message::FilesOpened(["notes.txt", "a.json"].map(file).into()));
    assert!(matches!(&effects[..], [Effect::ReadTexts(_), Effect::ReadFile(..)]), "{effects:?}");
}

#[test]
fn nothing_is_asked_while_a_run_goes_on() {
    let mut page = Page::explained();
    let run = asked(&page.send(Message::Explain));
    page.token(run, "So");
    page.send(Message::Stop);
    page.engine(run, EngineEvent::Stopped);
    let run = asked(&page.send(Message::ContinueAnswer));
    for message in
        [Message::ContinueAnswer, Message::ExplainSoFar, Message::Recompute, Message::MeasureDeletion, Message::ExplainVariant(0)]
    {
        assert_eq!(page.send(message), [], "a second press");
    }
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert!(!page.run().is_active());
}

#[test]
fn method_on_screen_stays_during_follow_up() {
    let mut page = Page::explained();
    let run = asked(&page.send(Message::CompareMethod("clp".into())));
    let mut other = document();
    other.method.id = "clp".into();
    page.engine(run, EngineEvent::Explained { document: Box::new(other), problem: None });
    let run = asked(&page.send(Message::ToggleWords(1)));
    assert_eq!(page.send(Message::ShowMethod("clp".into())), []);
    page.engine(run, EngineEvent::Words(Vec::new()));
    assert_eq!(page.look(|state| state.explanation.expanded[0].method.clone()), page.shown().unwrap());
}

#[test]
fn stop_while_a_lost_model_loads_again_ends_the_loading() {
    let progress = LoadProgress { read_bytes: 1, total_bytes: 2, memory_bytes: 3 };
    let ends = [EngineEvent::Stopped, EngineEvent::Failed(Problem::new(message!("gone"), message!("again")))];
    for end in ends {
        let mut page = Page::ready();
        let run = asked(&page.send(Message::Explain));
        page.engine(run, EngineEvent::Loading(progress));
        page.send(Message::Stop);
        page.engine(run, end);
        assert!(page.look(|state| !state.engine.is_loading()) && !page.run().is_active());
        let effects = page.send(Message::Explain);
        assert!(matches!(&requests(&effects)[..], [Envelope { body: EngineRequest::Load { .. }, .. }]), "it is loaded again: {effects:?}");
        page.engine(asked(&effects), EngineEvent::Ready(loaded()));
        assert_eq!(page.run(), RunStatus::answering());
    }
}

#[test]
fn lost_worker_ends_masked_model_loading() {
    let mut page = Page::new();
    page.send(EditorMessage::PromptTyped("A.".into()));
    page.send(Message::Explain);
    page.send(Message::MaskedLmChosen(vec![file("config.json")]));
    let again = asked(&page.send(Message::Stop));
    page.engine(again, EngineEvent::MaskedLmLoaded);
    assert_eq!(page.look(|state| *state.engine.masked_lm), MaskedLmState::Ready);
    page.send(Message::MaskedLmChosen(vec![file("config.json")]));
    page.send(Message::EngineLost(Lost::Stopped));
    assert_eq!(page.look(|state| *state.engine.masked_lm), MaskedLmState::NotChosen);
}

/// Another model made the explanation beforehand. The page downloads nothing before the visitor agrees.
#[test]
fn recomputing_with_another_known_model_asks_first() {
    let sha256 = "b".repeat(64);
    let known = json!({ "models": [{
        "name": "Smol", "architecture": "llama", "parameters_millions": 135, "quantization": "Q4_1", "sha256": sha256,
        "license": "Apache-2.0", "context_length": 8192, "bytes_per_token": 1, "about": "", "address": "https://a.b/smol.gguf",
    }] });
    let mut by_smol = document();
    by_smol.manifest.model.sha256 = sha256;
    let opened = |prepared: &Document| {
        let mut page = Page::ready();
        let entry = GalleryEntry { title: "Figs".into(), about: "Why?".into(), right: None, file: "smollm2-figs.json".into() };
        let asked = page.send(Message::OpenGalleryEntry(entry));
        page.arrives(&asked, prepared.to_json());
        assert_eq!(page.send(Message::Recompute), [Effect::Fetch(Fetch::Registry)]);
        page
    };
    let mut by_standard = document();
    by_standard.manifest.model.name = standard::NAME.into();
    by_standard.manifest.model.sha256 = "c".repeat(64);
    for (prepared, name) in [(&by_smol, "Smol"), (&by_standard, standard::NAME)] {
        let mut page = opened(prepared);
        let effects = page.send(Message::Fetched(Fetch::Registry, Some(known.to_string())));
        assert!(requests(&effects).is_empty() && page.look(|state| *state.library.is_open && !state.engine.is_busy()), "{effects:?}");
        assert_eq!(page.look(|state| state.library.asked.clone()).as_deref(), Some(name));
        page.send(LibraryMessage::UseStored { id: "ab".into(), name: name.into() });
        page.send(Message::Recompute);
        assert!(page.look(|state| state.engine.is_busy()), "the visitor chose this model");
    }

    let mut impatient = opened(&by_smol);
    assert_eq!(impatient.send(Message::Recompute), [], "a second press waits for the list, too");
    impatient.opens(document().to_json());
    let effects = impatient.send(Message::Fetched(Fetch::Registry, Some(known.to_string())));
    assert!(effects.is_empty() && impatient.look(|state| !*state.library.is_open), "the visitor has gone on: {effects:?}");

    let mut follow_up = Page::ready();
    follow_up.opens(by_smol.to_json());
    assert!(follow_up.look(State::lacks_model_of_document));
    assert_eq!(follow_up.send(Message::MeasureDeletion), [Effect::Fetch(Fetch::Registry)]);
    let effects = follow_up.send(Message::Fetched(Fetch::Registry, Some(known.to_string())));
    assert!(requests(&effects).is_empty(), "a follow-up question asks, too: {effects:?}");
    assert_eq!(follow_up.look(|state| state.library.asked.clone()).as_deref(), Some("Smol"));

    let mut offline = opened(&by_smol);
    let effects = offline.send(Message::Fetched(Fetch::Registry, None));
    assert_eq!(requests(&effects).len(), 1, "without the list, the chosen model answers");
}

#[test]
fn recomputed_explanation_keeps_selection() {
    let mut page = Page::ready();
    page.opens(document().to_json());
    page.send(ExplanationMessage::Select { row: 0, extend: false });
    let run = asked(&page.send(Message::Recompute));
    page.engine(run, answered(unmeasured()));
    page.engine(run, EngineEvent::Explained { document: Box::new(document()), problem: None });
    assert_eq!(page.look(|state| state.explanation.output.to_vec()), [0]);
    page.opens(document().to_json());
    assert_eq!(page.look(|state| state.explanation.output.to_vec()), [3], "a file has its own");
}

#[test]
fn steps_without_token_are_not_counted() {
    let mut page = Page::ready();
    let run = asked(&page.send(Message::Explain));
    page.token(run, "It");
    page.engine(run, EngineEvent::Progress(ExplainProgress::Step));
    assert_eq!(page.run().detail(), "1 token");
}

#[test]
fn accepted_text_file_removes_earlier_problem() {
    let mut page = Page::new();
    page.send(Message::Explain);
    assert!(!page.problem().is_empty());
    page.send(Message::FilesOpened(vec![file("notes.txt")]));
    assert!(page.problem().is_empty());
}

#[test]
fn run_drops_what_was_under_the_pointer() {
    let mut page = Page::explained();
    page.send(ExplanationMessage::Preview(Some(0)));
    page.send(ExplanationMessage::Focus(Some(0)));
    page.send(Message::Recompute);
    assert!(page.look(|state| state.explanation.preview.is_none() && state.explanation.focus.is_none()));
}

#[test]
fn dropped_file_closes_list_of_models() {
    let mut page = Page::new();
    page.send(LibraryMessage::Open);
    page.send(Message::FilesOpened(vec![file("x.json")]));
    assert!(!page.look(|state| *state.library.is_open));
}
